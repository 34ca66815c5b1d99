package core

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"octet/kvpool"
	"octet/scheduler"
	slow "octet/scheduler/internal/naive"
)

// world is a Core, the naive one beside it, an engine behind them and a transcript of what was said.
type world struct {
	cfg    Config
	core   *Core
	naive  *naive
	engine *paged
	heard  *transcript
	next   uint64
	now    scheduler.Time
	live   []uint64
	mirror map[kvpool.BlockHash]bool // the cache as the events tell it
	turns  map[*group]int            // after the last batch
}

func newWorld(d *slow.Dice) (*world, error) {
	cfg := Config{
		Blocks: 4 + d.Roll(20), BlockSize: []int{4, 1, 2, 3}[d.Roll(4)], MaxRunning: 1 + d.Roll(6),
		MaxWaiting: 1 + d.Roll(8), Seed: 5,
	}
	cfg.TokenBudget = cfg.MaxRunning + d.Roll(30)
	cfg.ChunkTokens = d.Roll(cfg.TokenBudget + 1)
	cfg.Watermark = []float64{-1, 0, 0.1, 0.3}[d.Roll(4)]
	cfg.CrossAdapter = d.Roll(5) == 1
	cfg.Weights = func(tenant string) int { return len(tenant) }
	cfg.Aging, cfg.AgingCeiling = scheduler.Time(d.Roll(3)*10), d.Roll(3)-1
	cfg.PrefillRate, cfg.LinkBandwidth = 1000, 100_000
	cfg.SSMStateBytes, cfg.KVTokenBytes, cfg.HostBytes = 50+int64(d.Roll(3)*300), int64(d.Roll(2)*5),
		int64(d.Roll(3)*700)
	core, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &world{
		cfg: cfg, core: core, naive: newNaive(cfg), engine: newPaged(cfg.Blocks, cfg.BlockSize), heard: newTranscript(),
		mirror: map[kvpool.BlockHash]bool{}, turns: map[*group]int{},
	}, nil
}

// request draws prompts from few words, so that prefixes meet, under two adapters.
func (w *world) request(d *slow.Dice) Request {
	w.next++
	r := Request{
		ID: w.next, Adapter: []string{"", "", "a", "b"}[d.Roll(4)], Priority: d.Roll(3) - 1,
		Arrival: scheduler.Time(d.Roll(20)),
		MaxNew:  1 + d.Roll(12), Draft: []int{0, 0, 1, 3}[d.Roll(4)], Tenant: []string{"", "a", "bbb"}[d.Roll(3)],
		Hybrid: d.Roll(4) == 1,
	}
	r.Root = kvpool.NewHasher(w.cfg.Seed).Root("debug", r.Adapter, "")
	word := d.Roll(3)
	for i := range 1 + d.Roll(20) {
		r.Tokens = append(r.Tokens, uint32(word*100+i))
	}
	if d.Roll(3) == 0 {
		r.Tokens = append(r.Tokens, uint32(d.Roll(200)))
	}
	return r
}

func (w *world) add(r Request) error {
	kept := r
	kept.Tokens = slices.Clone(r.Tokens)
	if _, err := w.core.Add(r, w.now); err != nil {
		return nil // refused: nothing may have changed, which the comparison shows
	}
	w.naive.add(kept, w.now)
	w.engine.hybrids[r.ID] = r.Hybrid
	w.heard.requests[r.ID] = kept
	w.live = append(w.live, r.ID)
	return nil
}

func (w *world) cancel(id uint64) error {
	if !w.core.Cancel(id) || w.core.Cancel(id) {
		return fmt.Errorf("cancelling %d does not happen exactly once", id)
	}
	w.naive.cancel(id)
	w.forget(id)
	return nil
}

func (w *world) forget(id uint64) {
	w.live = slices.DeleteFunc(w.live, func(o uint64) bool { return o == id })
}

// step is one batch: committed, or aborted by the dice, with a cancel in the middle now and then.
func (w *world) step(d *slow.Dice) error {
	w.now += scheduler.Time(d.Roll(4))
	w.naive.now = w.now
	before := w.places()
	b := w.core.Assemble(w.now)
	adapter, items := w.naive.assemble()
	if err := w.compareBatch(b, adapter, items); err != nil {
		return err
	}
	if err := w.checkBatch(b, before); err != nil {
		return err
	}
	if len(b.Items) == 0 {
		return nil
	}
	rs, err := w.engine.Step(context.Background(), b)
	if err != nil {
		return err
	}
	if d.Roll(8) == 1 {
		if err := w.cancel(w.live[d.Roll(len(w.live))]); err != nil {
			return err
		}
	}
	if d.Roll(10) == 1 {
		w.core.Abort(b)
		w.naive.abort()
		return nil
	}
	for _, o := range w.core.Commit(b, rs, w.now) {
		if err := w.heard.hear(o); err != nil {
			return err
		}
		if o.Finish != NotFinished {
			w.forget(o.ID)
		}
	}
	w.naive.commit(rs)
	return nil
}

func (w *world) compareBatch(b Batch, adapter string, items []naiveItem) error {
	var got []naiveItem
	for _, it := range b.Items {
		got = append(got, naiveItem{it.ID, it.Mode, it.Start, len(it.Tokens), it.Draft, it.Samples,
			fmt.Sprint(it.Table)})
	}
	if !slices.Equal(got, items) || len(items) > 0 && b.Adapter != adapter {
		return fmt.Errorf("batch of %q %+v, naively of %q %+v", b.Adapter, got, adapter, items)
	}
	return nil
}

// place is where a request was before a step.
type place struct {
	*sequence
	gaveWay int
	running bool
}

func (w *world) places() map[uint64]place {
	m := map[uint64]place{}
	for id, s := range w.core.live {
		m[id] = place{s, s.preemptions, s.group != nil}
	}
	return m
}

// checkBatch proves what every batch promises.
func (w *world) checkBatch(b Batch, before map[uint64]place) error {
	tokens, prefill := 0, false
	for _, it := range b.Items {
		s := w.core.live[it.ID]
		tokens += len(it.Tokens) + it.Draft
		if s.req.Adapter != it.Adapter || !w.cfg.CrossAdapter && it.Adapter != b.Adapter {
			return fmt.Errorf("%d of adapter %q is in a batch of %q", it.ID, s.req.Adapter, b.Adapter)
		}
		if it.Mode == Prefill {
			prefill = true
		} else if prefill {
			return fmt.Errorf("%d decodes behind a prefill", it.ID)
		}
	}
	if tokens > w.cfg.TokenBudget {
		return fmt.Errorf("%d tokens, the budget is %d", tokens, w.cfg.TokenBudget)
	}
	if (len(b.Items) == 0) != (len(w.live) == 0) {
		return fmt.Errorf("%d items, %d live", len(b.Items), len(w.live))
	}
	if err := w.checkTurns(b); err != nil {
		return err
	}
	return w.checkOrder(before)
}

// checkOrder: no request started before one of its tenant's that waited at its level and came first.
func (w *world) checkOrder(before map[uint64]place) error {
	for a, was := range before {
		for b, other := range before {
			started := !was.running && was.group != nil
			same := was.req.Priority == other.req.Priority && was.req.Tenant == other.req.Tenant &&
				other.preemptions == other.gaveWay
			if started && !other.running && other.group == nil && same && w.cfg.Aging == 0 &&
				other.Rank.Before(was.Rank) {
				return fmt.Errorf("%d started before %d", a, b)
			}
		}
	}
	return nil
}

// checkTurns: the adapter that was served is the last in turn now, and every other one came nearer.
func (w *world) checkTurns(b Batch) error {
	turns := map[*group]int{}
	for i, g := range w.core.running.groups {
		turns[g] = i
		if was, ok := w.turns[g]; len(b.Items) > 0 && ok && g.adapter != b.Adapter && i >= was {
			return fmt.Errorf("adapter %q had turn %d and has %d after a batch of %q", g.adapter, was, i, b.Adapter)
		}
	}
	if n := len(w.core.running.groups); len(b.Items) > 0 && w.core.running.groups[n-1].adapter != b.Adapter {
		return fmt.Errorf("%q was served, the last turn is %q's", b.Adapter, w.core.running.groups[n-1].adapter)
	}
	w.turns = turns
	return nil
}

// check compares the two cores and the events' mirror with the pool.
func (w *world) check() error {
	if err := w.core.Check(); err != nil {
		return err
	}
	s := w.core.Stats()
	free, running, waiting := w.naive.stats()
	if s.Free != free || s.Running != running || s.Waiting != waiting || s.Cached != len(w.naive.Content) {
		return fmt.Errorf("%+v, naively %d free, %d running, %d waiting, %d cached", s, free, running, waiting,
			len(w.naive.Content))
	}
	if s.HostBytes != w.naive.host {
		return fmt.Errorf("%d bytes in the host, naively %d", s.HostBytes, w.naive.host)
	}
	if s.Free+s.Used+s.Reserved != s.Total || min(s.Free, s.Used, s.Reserved) < 0 {
		return fmt.Errorf("%d free + %d used + %d reserved is not %d", s.Free, s.Used, s.Reserved, s.Total)
	}
	for _, e := range w.core.TakeEvents() {
		if w.mirror[e.Hash] == e.Stored {
			return fmt.Errorf("event %+v comes twice", e)
		}
		if e.Stored {
			if h := kvpool.NewHasher(w.cfg.Seed).Next(e.Parent, e.Tokens); h != e.Hash {
				return fmt.Errorf("event %+v: its tokens hash to %x", e, h)
			}
			w.mirror[e.Hash] = true
		} else {
			delete(w.mirror, e.Hash)
		}
	}
	if len(w.mirror) != s.Cached {
		return fmt.Errorf("events tell of %d blocks, %d are cached", len(w.mirror), s.Cached)
	}
	return nil
}

// simulate plays until the bytes are used up, then lets everything finish.
func simulate(bytes []byte) error {
	d := &slow.Dice{Bytes: bytes}
	w, err := newWorld(d)
	if err != nil {
		return err
	}
	for len(d.Bytes) > 0 {
		switch op := d.Roll(8); {
		case op < 3:
			err = w.add(w.request(d))
		case op == 3 && len(w.live) > 0:
			err = w.cancel(w.live[d.Roll(len(w.live))])
		default:
			err = w.step(d)
		}
		if err == nil {
			err = w.check()
		}
		if err != nil {
			return err
		}
	}
	return w.drain(d)
}

// drain proves that there is no livelock: all that is live ends within the steps that its tokens take one after
// another.
func (w *world) drain(d *slow.Dice) error {
	most := 0
	for _, id := range w.live {
		r := w.heard.requests[id]
		most += 2 * (len(r.Tokens) + r.MaxNew) * (r.MaxNew + 1)
	}
	for steps := 0; len(w.live) > 0; steps++ {
		if steps > most {
			return fmt.Errorf("%d are still live after %d steps", len(w.live), steps)
		}
		if err := w.step(d); err != nil {
			return err
		}
		if err := w.check(); err != nil {
			return err
		}
	}
	if s := w.core.Stats(); s.Free != s.Total || s.Running+s.Waiting != 0 {
		return fmt.Errorf("quiet, but %+v", s)
	}
	return nil
}

// MEGA-21, MEGA-22, MEGA-23, MEGA-24, MEGA-25, MEGA-26, MEGA-30, MEGA-34, MEGA-35, MEGA-48, MEGA-49, MEGA-70, MEGA-72:
// the Core decides what the naive one decides, its invariants hold after every step, its events tell exactly what is
// cached, everything accepted ends, and each answer is token for token what the request would have got alone: with
// reuse, chunks, neighbours, preemption, drafts, failures and cancels around it.
func TestCoreDoesWhatTheNaiveOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := simulate(rapid.SliceOfN(rapid.Byte(), 200, 1500).Draw(t, "bytes")); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzCore(f *testing.F) {
	f.Add([]byte{4, 0, 3, 4, 10, 0, 0, 0, 1, 1, 5, 0, 0, 9, 0, 4, 0, 0, 4, 0, 0})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if err := simulate(bytes[:min(len(bytes), 2000)]); err != nil {
			t.Fatal(err)
		}
	})
}
