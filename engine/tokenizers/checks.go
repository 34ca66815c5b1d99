package tokenizers

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/engine/openai"
	"octet/routing"
	"octet/routing/index"
)

// Checks compare what a local tokenizer makes of prompts with what the engines' own /tokenize says: once when an engine
// is first healthy, and then by sample. A replica that differs is scored approximately until it, or the tokenizer,
// starts anew.
type Checks struct {
	samples   chan sample                      // read by Run; one too many is dropped
	differing atomic.Pointer[index.HostBitmap] // replicas of by in state Approximate

	mu sync.Mutex
	by map[string]*check // by replica; guarded by mu
}

// check is what is known of one replica; guarded by Checks.mu.
type check struct {
	host   index.HostID
	client *openai.Client // whose answers are compared
	local  uint64         // the id of the tokenizer that it was compared with
	Check
}

// Check is the state of one replica's comparisons.
type Check struct {
	State    string // Unchecked | Unknown | Exact | Approximate; empty if its specialist's tokenizer is not a file
	Reason   string
	Checked  uint64 // prompts compared
	Differed uint64 // of those
}

// States of a Check.
const (
	Unchecked   = "unchecked"   // not yet, or no longer since the engine stopped answering
	Unknown     = "unknown"     // the engine has no /tokenize
	Exact       = "exact"       // every comparison was the same
	Approximate = "approximate" // one was not
)

// sample is one prompt of a request, and its tokens as the gateway has them.
type sample struct {
	of     *tokenizer
	facts  routing.Facts
	tools  bool
	tokens []uint32
}

// maxSamples is how many samples may wait for their comparison: more of them would tell nothing more.
const maxSamples = 8

func newChecks() *Checks {
	c := &Checks{samples: make(chan sample, maxSamples), by: map[string]*check{}}
	c.differing.Store(&index.HostBitmap{})
	return c
}

// expect has the engines of a tokenizer compared after their next probe, unless they were.
func (c *Checks) expect(t *tokenizer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range t.Engines {
		r := &t.Engines[i]
		if known := c.by[r.Replica]; known == nil || known.local != t.Local.id || known.client != r.Client {
			c.by[r.Replica] = &check{host: r.Host, client: r.Client, local: t.Local.id,
				Check: Check{State: Unchecked}}
		}
		r.check = c.by[r.Replica]
	}
	c.publish()
}

// keep forgets all replicas but those named.
func (c *Checks) keep(replicas iter.Seq[string]) {
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

// publish updates differing. Needs c.mu.
func (c *Checks) publish() {
	var hosts index.HostBitmap
	for _, k := range c.by {
		if k.State == Approximate {
			hosts.Set(k.host)
		}
	}
	c.differing.Store(&hosts)
}

// Differing returns the replicas in state Approximate.
func (c *Checks) Differing() index.HostBitmap { return *c.differing.Load() }

// Each calls f for every replica that is compared.
func (c *Checks) Each(f func(replica string, k Check)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, k := range c.by {
		f(name, k.Check)
	}
}

// noneExact returns true if every one of the replicas differs.
func (c *Checks) noneExact(replicas []Engine) bool {
	differing := c.differing.Load()
	return !slices.ContainsFunc(replicas, func(r Engine) bool { return !differing.Has(r.Host) })
}

// Of returns what is known of a replica.
func (c *Checks) Of(replica string) Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.by[replica]; k != nil {
		return k.Check
	}
	return Check{}
}

// Away notes that a replica does not answer: the engine that answers next may be another.
func (c *Checks) Away(replica string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.by[replica]; k != nil && k.State != Unchecked {
		k.State, k.Reason = Unchecked, ""
		c.publish()
	}
}

// note records the outcome of one comparison. It returns true if the replica was not known to differ and now is.
func (c *Checks) note(r Engine, local uint64, difference error) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.by[r.Replica]
	if k == nil || k.local != local || k != r.check {
		return false
	}
	k.Checked++
	switch {
	case difference != nil:
		k.Differed++
		news = k.State != Approximate
		k.State, k.Reason = Approximate, difference.Error()
		c.publish()
	case k.State != Approximate:
		k.State = Exact
	}
	return news
}

// unknowable notes that an engine has no /tokenize.
func (c *Checks) unknowable(r Engine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.by[r.Replica]; k != nil && k == r.check && k.State == Unchecked {
		k.State, k.Reason = Unknown, "the engine has no /tokenize"
	}
}

// sampler takes a share of a sequence, evenly.
type sampler struct {
	share float64
	seen  atomic.Uint64
}

func (s *sampler) takes() bool {
	n := s.seen.Add(1)
	return s.share > 0 && uint64(float64(n)*s.share) != uint64(float64(n-1)*s.share)
}

// suggest has a prompt compared, in the background. It never waits.
func (c *Checks) suggest(t *tokenizer, f *routing.Facts, tools bool, ids []uint32) {
	s := sample{t, routing.Facts{Kind: f.Kind, Body: slices.Clone(f.Body)}, tools, slices.Clone(ids)}
	select {
	case c.samples <- s:
	default:
	}
}

// Run compares samples with one replica after the other, until ctx ends.
func (c *Checks) Run(ctx context.Context, log *slog.Logger) {
	for {
		var s sample
		select {
		case <-ctx.Done():
			return
		case s = <-c.samples:
		}
		r := s.of.Engines[int(s.of.next.Add(1))%len(s.of.Engines)]
		ctx, cancel := context.WithTimeout(ctx, s.of.Timeout+time.Second)
		difference, err := compare(ctx, s.of.Model, r, &s.facts, s.tokens)
		cancel()
		switch {
		case err != nil: // probes notice an engine that does not answer
		case difference != nil && s.tools:
			if s.of.toolless.CompareAndSwap(false, true) {
				log.Warn("the engine renders tools otherwise: prompts with tools are scored approximately", "replica",
					r.Replica, "difference", difference)
			}
		case c.note(r, s.of.Local.id, difference):
			log.Warn("the engine tokenizes otherwise: the replica is scored approximately", "replica", r.Replica,
				"difference", difference)
		}
	}
}
