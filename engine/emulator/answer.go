package emulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"octet/scheduler"
	"octet/scheduler/core"
)

// answer is one request under way: all its choices, each a sequence of its own in the scheduler.
type answer struct {
	ask     *ask
	choices []*choice
	e       *Emulator
}

// choice is one sequence of an answer, as its handler sees it.
type choice struct {
	index  int // within the answer: prompt × n + j
	prompt int // which of the request's prompts it answers
	id     uint64
	seq    *sequence
	stream *core.Stream
	stop   stopper
	pack   packing // of a stream

	text   []byte   // of the token at hand; reused
	tokens int      // generated so far
	cached int      // prompt tokens that were in the prefix cache
	finish string   // "" until it has ended
	ids    []uint32 // of its tokens; only when asked for
	timing timing
}

// start submits every choice of a. On an error none is left behind.
func (e *Emulator) start(ctx context.Context, a *ask) (*answer, error) {
	an := &answer{ask: a, e: e}
	for p := range a.prompts {
		for range a.n {
			c := &choice{index: len(an.choices), prompt: p, timing: timing{arrival: time.Now()}}
			for _, word := range a.body.Stop {
				c.stop.words = append(c.stop.words, []byte(word))
			}
			if err := an.submit(ctx, c); err != nil {
				an.close()
				return nil, err
			}
			an.choices = append(an.choices, c)
		}
	}
	return an, nil
}

// submit hands one choice to the scheduler.
func (an *answer) submit(ctx context.Context, c *choice) (err error) {
	a, e := an.ask, an.e
	v := e.speak(a, a.prompts[c.prompt], c.index)
	c.seq = &sequence{script: v, adapter: a.adapter.name, fetched: e.fetches(a), kept: e.keeps(a)}
	if a.received != nil {
		c.seq.received = a.received[c.prompt]
	}
	limit := a.maxNew[c.prompt]
	if v != nil && v.Len() > 0 {
		limit = min(limit, v.Len())
	}
	e.cacheMu.RLock() // a reset of the cache lies before or after the whole of this
	defer e.cacheMu.RUnlock()
	if err := e.sleeper.refusal(); err != nil {
		return err
	}
	c.id = e.sequences.add(c.seq)
	c.stream, err = e.loop.Submit(ctx, core.Request{
		ID: c.id, Tokens: append([]uint32(nil), a.prompts[c.prompt].tokens...),
		Root:    e.root(a.adapter, a.body.CacheSalt),
		Adapter: a.adapter.name, Salt: a.body.CacheSalt, Priority: -a.body.Priority, MaxNew: limit, Draft: e.cfg.Draft,
		Hybrid: e.cfg.Hybrid, Policy: a.policy(c.index % a.n),
	})
	if err != nil {
		e.sequences.remove(c.id)
	}
	return err
}

// close frees the blocks of every choice that has not ended. It is called once.
func (an *answer) close() {
	for _, c := range an.choices {
		if c.finish == "" {
			an.e.metrics.finished.WithLabelValues("abort").Inc()
		}
		c.stream.Cancel()
		an.e.sequences.remove(c.id)
	}
}

// token is one token of one choice, ready to be written.
type token struct {
	choice *choice
	part   part
	call   int
	text   []byte // valid until the next token; empty while a stop string may be beginning
	id     uint32
}

// each calls take for every token of every choice in the order in which they come, until all choices have ended.
// It returns the first error: of ctx, of the scheduler, or of take.
func (an *answer) each(ctx context.Context, take func(token) error) error {
	if len(an.choices) > 1 {
		return an.merge(ctx, take)
	}
	for c := an.choices[0]; ; {
		out, err := c.stream.Next(ctx)
		if ended, err := an.deliver(c, out, err, take); ended || err != nil {
			return err
		}
	}
}

// merge is each for several choices: a goroutine follows each stream, and all have ended when merge returns.
func (an *answer) merge(ctx context.Context, take func(token) error) error {
	type arrival struct {
		choice *choice
		out    core.Output
		err    error
	}
	arrivals := make(chan arrival) // unbuffered: the streams have all the room there need be
	var followers sync.WaitGroup
	defer followers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, c := range an.choices {
		followers.Go(func() {
			for err := error(nil); err == nil && ctx.Err() == nil; {
				var out core.Output
				out, err = c.stream.Next(ctx)
				select {
				case arrivals <- arrival{c, out, err}:
				case <-ctx.Done():
				}
			}
		})
	}
	for open := len(an.choices); open > 0; {
		select {
		case a := <-arrivals:
			ended, err := an.deliver(a.choice, a.out, a.err, take)
			if err != nil {
				return err
			}
			if ended {
				open--
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// deliver hands what c's stream gave to take, and reports whether c has ended. After its last token the stream may
// still give tokens (beyond a stop string) and then an error, of which none matters.
func (an *answer) deliver(c *choice, out core.Output, err error, take func(token) error) (ended bool, _ error) {
	switch {
	case c.finish != "":
		return err != nil, nil
	case errors.Is(err, io.EOF):
		return true, fmt.Errorf("%w: the stream of choice %d ended without a last token", scheduler.ErrEngine, c.index)
	case err != nil:
		return true, err
	}
	t, err := an.token(c, out)
	if err != nil {
		return true, err
	}
	return false, take(t)
}

// token notes what out says about c and returns its text. A token that c could not say there is another's: an error.
func (an *answer) token(c *choice, out core.Output) (token, error) {
	var own bool
	c.text, own = c.seq.spell(c.text[:0], c.tokens, out.Token)
	if !own || out.Index != c.tokens {
		return token{}, fmt.Errorf("%w: choice %d got token %d as its number %d for number %d", scheduler.ErrEngine,
			c.index, out.Token, out.Index, c.tokens)
	}
	c.tokens, c.cached = c.tokens+1, out.Cached
	if c.seq.fetched { // as vLLM counts them: whole blocks, and never the last token
		c.cached = (len(an.ask.prompts[c.prompt].tokens) - 1) / an.e.cfg.BlockSize * an.e.cfg.BlockSize
	}
	v := c.view(out.Finish != core.NotFinished)
	text, stopped := v.text, false
	if v.part == partText {
		text, stopped = c.stop.feed(v.text, v.last)
	}
	switch {
	case stopped:
		c.finish = "stop"
		c.stream.Cancel()
	case out.Finish == core.FinishStop:
		c.finish = "stop"
	case out.Finish == core.FinishLength:
		c.finish = "length"
	}
	an.e.metrics.token(c, len(an.ask.prompts[c.prompt].tokens))
	return token{c, v.part, v.call, text, out.Token}, nil
}

// view returns what the client is shown of c's latest token, which is the last one of the answer or not.
func (c *choice) view(last bool) view {
	v := view{text: c.text, last: last}
	if answer, more := c.seq.script.(*composed); more {
		v = answer.views[c.tokens-1]
		v.last = v.last || last
	}
	return v
}

// callID returns what a call of c is known by, the same at every replica.
func (c *choice) callID(call int) string {
	answer, _ := c.seq.script.(*composed)
	return fmt.Sprintf("call_%016x%d", answer.seed, call)
}

// reason returns why c has ended, as clients are told; "" if it has not.
func (c *choice) reason() string {
	if answer, more := c.seq.script.(*composed); more && len(answer.calls) > 0 && c.finish == "stop" &&
		c.tokens == answer.Len() {
		return "tool_calls"
	}
	return c.finish
}

// usage adds up what the answer took: each prompt once, each choice's tokens.
func (an *answer) usage() usage {
	var u usage
	for _, c := range an.choices {
		u.CompletionTokens += c.tokens
		if c.index%an.ask.n == 0 {
			u.PromptTokens += len(an.ask.prompts[c.prompt].tokens)
			u.Details.CachedTokens += c.cached
		}
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}
