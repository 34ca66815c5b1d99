package cmd

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/index"
)

// checks compare what a local tokenizer makes of prompts with what the engines' own /tokenize says: when an engine is
// met, and then by sample. A replica that differs is scored approximately until it, or the tokenizer, starts anew.
type checks struct {
	samples   chan sample                      // taken by run; one too many is dropped
	differing atomic.Pointer[index.HostBitmap] // of by

	mu sync.Mutex
	by map[string]*check // by replica; guarded by mu
}

// check is what is known of one replica; guarded by checks.mu.
type check struct {
	host   index.HostID
	client *openai.Client // whose answers are compared
	local  uint64         // the tokenizer that it was compared with
	ensemble.TokenCheck
}

// checkedReplica is a replica as checks see it.
type checkedReplica struct {
	name, engine string
	client       *openai.Client
	host         index.HostID
	check        *check // that its answers count for: nothing, once another replica has its name
}

// sample is one prompt of a request, and its tokens as we have them.
type sample struct {
	of     *tokenizer
	facts  routing.Facts
	tools  bool
	tokens []uint32
}

// States of a TokenCheck.
const (
	unchecked   = "unchecked"   // not yet, or no longer since the engine went away
	unknown     = "unknown"     // the engine has no /tokenize
	exact       = "exact"       // every comparison was the same
	approximate = "approximate" // one was not
)

// maxSamples is how many samples may wait: more say nothing more.
const maxSamples = 8

func newChecks() *checks {
	c := &checks{samples: make(chan sample, maxSamples), by: map[string]*check{}}
	c.differing.Store(&index.HostBitmap{})
	return c
}

// expect has the replicas of a tokenizer checked when they are met next, unless they were.
func (c *checks) expect(t *tokenizer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range t.replicas {
		r := &t.replicas[i]
		if known := c.by[r.name]; known == nil || known.local != t.local.id || known.client != r.client {
			c.by[r.name] = &check{host: r.host, client: r.client, local: t.local.id,
				TokenCheck: ensemble.TokenCheck{State: unchecked}}
		}
		r.check = c.by[r.name]
	}
	c.publish()
}

// keep forgets all replicas but those.
func (c *checks) keep(replicas iter.Seq[string]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	staying := slices.Collect(replicas)
	for name := range c.by {
		if !slices.Contains(staying, name) {
			delete(c.by, name)
		}
	}
	c.publish()
}

// publish needs c.mu.
func (c *checks) publish() {
	var hosts index.HostBitmap
	for _, k := range c.by {
		if k.State == approximate {
			hosts.Set(k.host)
		}
	}
	c.differing.Store(&hosts)
}

// noneExact says whether every one of the replicas differs.
func (c *checks) noneExact(replicas []checkedReplica) bool {
	differing := c.differing.Load()
	return !slices.ContainsFunc(replicas, func(r checkedReplica) bool { return !differing.Has(r.host) })
}

// state returns what is known of a replica; State is empty where its specialist's tokenizer is not a file.
func (c *checks) state(replica string) ensemble.TokenCheck {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.by[replica]; k != nil {
		return k.TokenCheck
	}
	return ensemble.TokenCheck{}
}

// away notes that a replica does not answer: who comes back may be another.
func (c *checks) away(replica string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.by[replica]; k != nil && k.State != unchecked {
		k.State, k.Reason = unchecked, ""
		c.publish()
	}
}

// note takes the outcome of one comparison in, and reports whether the replica was not known to differ and now is.
func (c *checks) note(r checkedReplica, local uint64, difference error) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.by[r.name]
	if k == nil || k.local != local || k != r.check {
		return false
	}
	k.Checked++
	switch {
	case difference != nil:
		k.Differed++
		news = k.State != approximate
		k.State, k.Reason = approximate, difference.Error()
		c.publish()
	case k.State != approximate:
		k.State = exact
	}
	return news
}

// unknowable notes that an engine cannot say how it tokenizes.
func (c *checks) unknowable(r checkedReplica) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.by[r.name]; k != nil && k == r.check && k.State == unchecked {
		k.State, k.Reason = unknown, "the engine has no /tokenize"
	}
}

// sampler takes a share of what passes, evenly.
type sampler struct {
	share float64
	seen  atomic.Uint64
}

func (s *sampler) takes() bool {
	n := s.seen.Add(1)
	return s.share > 0 && uint64(float64(n)*s.share) != uint64(float64(n-1)*s.share)
}

// suggest has a prompt compared, in the background. It never waits.
func (c *checks) suggest(t *tokenizer, f *routing.Facts, tools bool, ids []uint32) {
	s := sample{t, routing.Facts{Kind: f.Kind, Body: slices.Clone(f.Body)}, tools, slices.Clone(ids)}
	select {
	case c.samples <- s:
	default:
	}
}

// run compares samples with one replica after the other, until ctx ends.
func (c *checks) run(ctx context.Context, log *slog.Logger) {
	for {
		var s sample
		select {
		case <-ctx.Done():
			return
		case s = <-c.samples:
		}
		r := s.of.replicas[int(s.of.next.Add(1))%len(s.of.replicas)]
		ctx, cancel := context.WithTimeout(ctx, s.of.timeout+time.Second)
		difference, err := compare(ctx, s.of.model, r, &s.facts, s.tokens)
		cancel()
		switch {
		case err != nil: // an engine that does not answer is the probes' affair
		case difference != nil && s.tools:
			if s.of.toolless.CompareAndSwap(false, true) {
				log.Warn("the engine renders tools otherwise: prompts with tools are scored approximately", "replica",
					r.name, "difference", difference)
			}
		case c.note(r, s.of.local.id, difference):
			log.Warn("the engine tokenizes otherwise: the replica is scored approximately", "replica", r.name,
				"difference", difference)
		}
	}
}

// compare asks a replica for the tokens of a prompt. difference says how they are not ids; err that there was no
// answer.
func compare(ctx context.Context, model string, r checkedReplica, f *routing.Facts, ids []uint32) (difference,
	err error) {
	body, err := question(model, f)
	if err == nil && engineKind(r.engine).Paths.Template != "" {
		body, err = llamaQuestion(ctx, r.client, f)
	}
	if err != nil {
		return nil, err
	}
	theirs, err := r.client.Tokenize(ctx, nil, body)
	if err != nil {
		return nil, err
	}
	for i := range min(len(ids), len(theirs)) {
		if ids[i] != theirs[i] {
			return fmt.Errorf("token %d of %d is %d here and %d there", i, len(ids), ids[i], theirs[i]), nil
		}
	}
	if len(ids) != len(theirs) {
		return fmt.Errorf("%d tokens here and %d there", len(ids), len(theirs)), nil
	}
	return nil, nil
}

// llamaQuestion is the question to a llama.cpp server, which renders a chat and tokenizes a text in two steps.
func llamaQuestion(ctx context.Context, c *openai.Client, f *routing.Facts) ([]byte, error) {
	var r wire.Request
	kind := wire.Chat
	if f.Kind == "completion" {
		kind = wire.Completion
	}
	if err := wire.Parse(kind, f.Body, wire.Judged, &r); err != nil {
		return nil, err
	}
	if kind == wire.Completion {
		text, _ := r.PromptText(0)
		return openai.ContentQuestion(string(text)), nil
	}
	text, err := c.ApplyTemplate(ctx, f.Body)
	return openai.ContentQuestion(text), err
}
