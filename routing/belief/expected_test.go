package belief

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// engine is a replica, slot 3, that stores what it computes under its own names, and whose events may be late.
type engine struct {
	t       *testing.T
	b       *Beliefs
	now     time.Time
	seq     uint64
	epoch   uint64
	late    time.Duration
	held    map[kvpool.BlockHash]bool
	on      []sent // their way, in order
	renamed kvpool.BlockHash
}

type sent struct {
	at  time.Time
	ops []index.Op
}

func newEngine(t *testing.T, renamed kvpool.BlockHash) *engine {
	x, guesses := oneHost(t)
	e := &engine{t: t, now: time.Unix(1_700_000_000, 0), epoch: 1, held: map[kvpool.BlockHash]bool{}, renamed: renamed}
	e.b = New(Config{Index: x, Guesses: guesses, TTL: time.Second,
		Patience: func() time.Duration { return 30 * time.Second },
		Differ:   func() (none index.HostBitmap) { return none }, Cleared: func(index.HostID) {}})
	e.b.now = func() time.Time { return e.now }
	e.b.Begin(3, time.Hour, 0)
	return e
}

// chainOf returns the chain of prompt n, whose first shared blocks are those of all prompts.
func chainOf(n, blocks, shared int) (chain []kvpool.BlockHash) {
	for i := range blocks {
		if i < shared {
			chain = append(chain, kvpool.BlockHash(1000+i))
		} else {
			chain = append(chain, kvpool.BlockHash(1_000_000*(n+1)+i))
		}
	}
	return chain
}

// computes has the engine compute a prompt: it stores what it does not hold.
func (e *engine) computes(chain []kvpool.BlockHash) {
	for i, b := range chain {
		if e.held[b] {
			continue
		}
		e.held[b] = true
		op := index.Op{Kind: index.Store, Blocks: []kvpool.BlockHash{b ^ e.renamed}, RootKnown: i == 0}
		if i > 0 {
			op.HasParent, op.Parent = true, chain[i-1]^e.renamed
		}
		e.on = append(e.on, sent{e.now.Add(e.late), []index.Op{op}})
	}
}

// passes lets time go on, and events arrive.
func (e *engine) passes(d time.Duration) {
	e.t.Helper()
	end := e.now.Add(d)
	for len(e.on) > 0 && !e.on[0].at.After(end) {
		e.now, e.seq = e.on[0].at, e.seq+1
		if out := e.b.Apply(index.Batch{Host: 3, Epoch: e.epoch, Seq: e.seq, Ops: e.on[0].ops}); out != index.Applied {
			e.t.Fatal(out)
		}
		e.on = e.on[1:]
	}
	e.now = end
}

// asks routes prompt n there, and has it computed.
func (e *engine) asks(chain []kvpool.BlockHash) {
	e.b.Routed(3, chain, e.now)
	e.b.Expect(3, chain, e.now)
	e.computes(chain)
}

func (e *engine) is(misfit bool) {
	e.t.Helper()
	if got := e.b.Misfits(); got.Has(3) != misfit || got.Count() > 1 {
		e.t.Errorf("misfits %v, want %v", got, misfit)
	}
}

// MOD2-39: an engine of another hash seed is found out by what it never stores, and is believed again in its next life
// or when it stores what is routed there.
func TestAnotherSeedIsFoundOutWithoutTokens(t *testing.T) {
	e := newEngine(t, 1<<40)
	for n := range 60 {
		e.asks(chainOf(n, 6, 2))
		e.passes(2 * time.Second)
		if n < 29 {
			e.is(false) // too few were waited for long enough
		}
	}
	e.is(true)
	e.renamed = 0
	e.asks(chainOf(200, 6, 0)) // not among those that are waited for
	e.passes(time.Minute)
	e.asks(chainOf(201, 6, 0))
	e.passes(time.Second)
	e.is(false)
	e.renamed = 1 << 40
	for n := range 60 {
		e.asks(chainOf(300+n, 6, 0))
		e.passes(2 * time.Second)
	}
	e.is(false) // it has been seen to fit, in this life
	e.epoch, e.seq = 2, 0
	for n := range 60 {
		e.asks(chainOf(400+n, 6, 0))
		e.passes(2 * time.Second)
	}
	e.is(true)
	e.b.Begin(3, time.Hour, 0)
	e.is(false)
}

// MOD2-39: what is no wrong seed is not taken for one: late events, prompts that the engine holds already, prompts
// below a block, other gateways' prompts, an idle engine, an engine that never published.
func TestWhatOnlyLooksLikeAnotherSeedIsNone(t *testing.T) {
	for _, late := range []time.Duration{0, 100 * time.Millisecond, time.Second, 5 * time.Second, 29 * time.Second} {
		t.Run(fmt.Sprint(late), func(t *testing.T) {
			for seed := range uint64(20) {
				draw := rand.New(rand.NewPCG(seed, 39))
				e := newEngine(t, 0)
				e.late = late
				for range draw.IntN(200) { // before this gateway was there
					e.computes(chainOf(draw.IntN(300), 1+draw.IntN(6), draw.IntN(3)))
				}
				if draw.IntN(2) == 0 {
					e.passes(late + time.Second)
				}
				for range 400 {
					chain := chainOf(draw.IntN(300), draw.IntN(7), draw.IntN(3))
					if draw.IntN(3) == 0 {
						e.computes(chain) // by another gateway
					} else {
						e.asks(chain)
					}
					e.passes(time.Duration(draw.IntN(2000)) * time.Millisecond)
					e.is(false)
				}
			}
		})
	}
	t.Run("no events", func(t *testing.T) {
		e := newEngine(t, 1<<40)
		e.late = time.Hour
		for n := range 100 {
			e.asks(chainOf(n, 6, 0))
			e.passes(2 * time.Second)
		}
		e.is(false)
	})
	t.Run("the same prompt again", func(t *testing.T) {
		e := newEngine(t, 0)
		e.computes(chainOf(0, 6, 0))
		e.on = nil // before this gateway was there
		for n := range 100 {
			e.asks(chainOf(0, 6, 0))
			e.computes(chainOf(1+n, 6, 0)) // by another gateway
			e.passes(10 * time.Second)
		}
		e.is(false)
	})
}

// MOD2-39: each of these shows that names are alike, and ends the comparison.
func TestOneBlockThatFitsIsEnough(t *testing.T) {
	chain := chainOf(1, 6, 0)
	store := func(op index.Op, blocks ...kvpool.BlockHash) []index.Op {
		op.Kind, op.Blocks = index.Store, blocks
		return []index.Op{op}
	}
	for name, row := range map[string]struct {
		before bool // the prompt was routed
		ops    []index.Op
	}{
		"its last block":                     {false, store(index.Op{HasParent: true, Parent: chain[4]}, chain[5])},
		"its first block":                    {false, store(index.Op{RootKnown: true}, chain[0])},
		"what follows it":                    {false, store(index.Op{HasParent: true, Parent: chain[5]}, 77)},
		"its beginning, before it is routed": {true, store(index.Op{RootKnown: true}, chain[0])},
	} {
		e := newEngine(t, 0)
		e.on = []sent{{e.now, store(index.Op{RootKnown: true}, 5)}, {e.now, row.ops}}
		if row.before {
			e.passes(time.Second)
		}
		e.b.Expect(3, chain, e.now)
		e.passes(time.Second)
		if !e.b.expected[3].fits.Load() {
			t.Errorf("%s does not count", name)
		}
		e.epoch, e.seq, e.on = 2, 0, []sent{{e.now, store(index.Op{RootKnown: true}, 6)}}
		e.passes(time.Second)
		if e.b.expected[3].fits.Load() {
			t.Errorf("%s counts for the engine's next life", name)
		}
	}
}
