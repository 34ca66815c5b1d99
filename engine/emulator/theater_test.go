package emulator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"octet/engine/emulator/tiny"
	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/core"
)

// play is one way of computing the same requests: whatever it says, the answers must be those of each request alone.
type play struct {
	core     core.Config
	hybrid   bool
	draft    int
	adapters []string // drawn from; "" is the base model
	requests int
	// one step in so many is computed and then aborted, or aborted at once; 0 is none
	abort       int
	cancel      int                     // one request in so many is cancelled half way; 0 is none
	root        func(string) uint64     // of an adapter's chains, instead of the right ones
	spoil       func(*core.Batch)       // a bug before each step
	wantTheater func(theater) (ok bool) // what must have happened for the play to prove anything
}

// theater is what happened in a play.
type theater struct {
	stats                                scheduler.Stats
	accepted, rejected, aborted, chunked int
}

// errWrong is the finding that a token is not what the request is answered when it is alone.
var errWrong = errors.New("a wrong token")

// role is one request of a play: its answer alone, and how much of it has been said.
type role struct {
	req   core.Request
	want  []uint32
	heard int
	leave int // cancelled after so many tokens; -1 is never
}

// stage runs one play with one seed.
type stage struct {
	play
	rng   *rand.Rand
	core  *core.Core
	model model
	roles map[uint64]*role
	left  int
	now   scheduler.Time
	theater
}

// roots names an adapter's chains.
func roots(adapter string) kvpool.BlockHash { return kvpool.NewHasher(3).Root("m", adapter, "") }

// run performs p and returns the first wrong token, if any.
func (p play) run(t testing.TB, seed uint64) (theater, error) {
	t.Helper()
	core, err := core.New(p.core)
	if err != nil {
		t.Fatal(err)
	}
	model := tiny.NewModel(11, lexicon().ids, p.hybrid)
	s := &stage{
		play: p, rng: rand.New(rand.NewPCG(seed, 0)), core: core, roles: map[uint64]*role{}, left: p.requests,
		model: &tinyModel{sequences: newSequences(), engine: tiny.NewEngine(model, p.core.Blocks, p.core.BlockSize),
			host: map[uint64]*tiny.Snapshot{}},
	}
	s.write(model)
	for id := uint64(1); s.left > 0; {
		for ; id <= uint64(p.requests) && s.rng.IntN(3) > 0; id++ {
			s.enter(t, id)
		}
		if err := s.step(t); err != nil {
			return s.theater, err
		}
	}
	s.stats = core.Stats()
	if s.stats.Used+s.stats.Reserved+s.stats.Running+s.stats.Waiting > 0 {
		t.Errorf("seed %d: something is left: %+v", seed, s.stats)
	}
	return s.theater, nil
}

// write makes the requests: prompts that begin alike in part, in whole or not at all.
func (s *stage) write(m *tiny.Model) {
	stem := make([]uint32, 40)
	for i := range stem {
		stem[i] = s.rng.Uint32() >> 1
	}
	for id := range uint64(s.requests) {
		prompt := slices.Clone(stem[:s.rng.IntN(len(stem)+1)])
		for range 1 + s.rng.IntN(8) {
			prompt = append(prompt, s.rng.Uint32N(4))
		}
		adapter := s.adapters[s.rng.IntN(len(s.adapters))]
		sc := &role{leave: -1, req: core.Request{
			ID: id + 1, Tokens: prompt, Root: roots(adapter), Adapter: adapter, Priority: s.rng.IntN(3),
			MaxNew: 1 + s.rng.IntN(24), Draft: s.draft, Hybrid: s.play.core.SSMStateBytes > 0,
		}}
		if s.root != nil {
			sc.req.Root = kvpool.BlockHash(s.root(adapter))
		}
		sc.want, _ = m.Answer(adapter, prompt, sc.req.MaxNew)
		if s.cancel > 0 && s.rng.IntN(s.cancel) == 0 {
			sc.leave = s.rng.IntN(len(sc.want))
		}
		s.roles[id+1] = sc
	}
}

func (s *stage) enter(t testing.TB, id uint64) {
	req := s.roles[id].req
	req.Tokens = slices.Clone(req.Tokens) // the core's from here on
	s.now++
	req.Arrival = s.now
	if _, err := s.core.Add(req, s.now); err != nil {
		t.Fatal(err)
	}
}

// step performs one step and hears what was said in it.
func (s *stage) step(t testing.TB) error {
	s.now++
	b := s.core.Assemble(s.now)
	if len(b.Items) == 0 {
		return nil
	}
	if s.spoil != nil {
		b.Items = slices.Clone(b.Items)
		s.spoil(&b)
	}
	strikes := s.abort > 0 && s.rng.IntN(s.abort) == 0
	// a copy is gone once computed with
	restores := slices.ContainsFunc(b.Items, func(it core.Item) bool { return it.Restore })
	if strikes && (restores || s.rng.IntN(2) == 0) {
		s.aborted++
		s.core.Abort(b)
		return s.check()
	}
	results, err := s.model.Say(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if strikes {
		s.aborted++
		s.core.Abort(b)
		return s.check()
	}
	s.watch(b, results)
	for _, o := range s.core.Commit(b, results, s.now) {
		if err := s.hear(o); err != nil {
			return err
		}
	}
	s.leave()
	return s.check()
}

func (s *stage) check() error {
	s.core.TakeEvents()
	return s.core.Check()
}

// watch counts what the step shows of drafts and chunks.
func (s *stage) watch(b core.Batch, results []core.Result) {
	for i, it := range b.Items {
		if it.Mode == core.Prefill && !it.Samples {
			s.chunked++
		}
		if it.Mode == core.SpecVerify {
			s.accepted += len(results[i].Tokens) - 1
			s.rejected += it.Draft - (len(results[i].Tokens) - 1)
		}
	}
}

func (s *stage) hear(o core.Output) error {
	sc := s.roles[o.ID]
	if o.Index != sc.heard || o.Index >= len(sc.want) || sc.want[o.Index] != o.Token {
		return fmt.Errorf("%w: %d (adapter %q) says %d as number %d after %d of %d", errWrong, o.ID, sc.req.Adapter,
			o.Token, o.Index, sc.heard, sc.want)
	}
	sc.heard++
	if o.Finish != core.NotFinished {
		if sc.heard != len(sc.want) {
			return fmt.Errorf("%w: %d ends after %d of %d tokens", errWrong, o.ID, sc.heard, len(sc.want))
		}
		s.left--
	}
	return nil
}

// leave cancels the requests that have heard enough. In order, so that a seed is a play.
func (s *stage) leave() {
	for id := range uint64(s.requests) {
		if sc := s.roles[id+1]; sc.leave >= 0 && sc.heard > sc.leave && s.core.Cancel(id+1) {
			s.left--
			sc.leave = -1
		}
	}
}
