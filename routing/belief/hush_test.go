package belief

import (
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// A replica that has published and tells of no block any more, while prompts are routed to it that it does not hold, is
// not believed by its events; one that is idle, that holds what is routed there, or that tells of any block is.
func TestSilenceLowersTrustByWhatIsRouted(t *testing.T) {
	const patience = 30 * time.Second
	x, guesses := oneHost(t)
	b := New(Config{Index: x, Guesses: guesses, TTL: time.Second, Patience: func() time.Duration { return patience },
		Differ: func() (none index.HostBitmap) { return none }, Cleared: func(index.HostID) {}})
	now, seq := time.Unix(1_700_000_000, 0), uint64(0)
	b.now = func() time.Time { return now }
	b.Begin(3, time.Hour, 0)
	stores := func(chain []kvpool.BlockHash) {
		seq++
		if out := b.Apply(index.Batch{Host: 3, Epoch: 1, Seq: seq, Ops: []index.Op{{Kind: index.Store, RootKnown: true,
			Blocks: chain}}}); out != index.Applied {
			t.Fatal(out)
		}
	}
	hushed := func(what string, want bool) {
		t.Helper()
		if got := b.Hushed().Has(3); got != want {
			t.Errorf("%s: hushed %t", what, got)
		}
	}
	routes := func(n, from int, every time.Duration) {
		for i := range n {
			now = now.Add(every)
			b.Owe(3, chainOf(from+i, 4, 0), now)
		}
	}
	routes(100, 0, time.Minute)
	hushed("it has never published", false)
	stores(chainOf(0, 4, 0))
	now = now.Add(24 * time.Hour)
	hushed("idle for a day", false)
	for range 100 {
		now = now.Add(time.Minute)
		b.Owe(3, chainOf(0, 4, 0), now)
	}
	hushed("all that is routed there is held", false)
	routes(200, 1000, time.Millisecond)
	hushed("its events may be on their way", false)
	routes(3, 2000, time.Minute)
	hushed("few prompts since", false)
	stores(chainOf(5000, 4, 0))
	routes(hushedPrompts-1, 3000, time.Minute)
	hushed("not enough prompts", false)
	routes(1, 4000, time.Minute)
	hushed("it says nothing", true)
	stores(chainOf(6000, 4, 0))
	hushed("it speaks again", false)
	routes(hushedPrompts, 7000, time.Minute)
	hushed("and stops", true)
	b.Begin(3, time.Hour, 0)
	hushed("another replica has its slot", false)
}
