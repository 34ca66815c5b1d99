package belief

import (
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// An engine whose blocks are four of the index's keeps and serves whole ones of its own: nothing else is believed of
// it, whether its events or its metrics say so.
func TestEnginesWithLargeBlocksServeWholeOnes(t *testing.T) {
	for _, by := range []string{"events", "metrics"} {
		t.Run(by, func(t *testing.T) {
			now := time.Unix(1000, 0)
			b := coarseBeliefs(t, func() time.Time { return now })
			prompt := chainOf(1, 11, 0)
			if by == "metrics" {
				b.Grain(3, 4)
				b.Routed(3, prompt, now)
			} else {
				stores(t, b, 1, 4, prompt[:8])
			}
			for n, want := range map[int]int{3: 0, 4: 4, 7: 4, 8: 8, 11: 8} {
				if got := b.Held(prompt[:n], 3); got != want {
					t.Errorf("of %d blocks %d are held, want %d", n, got, want)
				}
			}
			b.Begin(3, time.Minute, 0)
			b.Routed(3, prompt, now)
			if got := b.Held(prompt, 3); got != 11 {
				t.Errorf("of the slot's next replica %d blocks are held, want 11", got)
			}
		})
	}
}

// Blocks of another size come with the engine's next life.
func TestAnEnginesNextLifeMayHaveOtherBlocks(t *testing.T) {
	b := coarseBeliefs(t, time.Now)
	prompt := chainOf(1, 6, 0)
	for epoch, grain := range []uint16{4, 1, 2} {
		stores(t, b, uint64(epoch), grain, prompt[:5])
		if got, want := b.Held(prompt, 3), []int{4, 5, 4}[epoch]; got != want {
			t.Errorf("life %d: %d blocks are held, want %d", epoch, got, want)
		}
	}
}

// Prompts that are shorter than one of the engine's blocks are never registered, and hush no replica.
func TestPromptsShorterThanABlockOweNothing(t *testing.T) {
	now := time.Unix(1000, 0)
	b := coarseBeliefs(t, func() time.Time { return now })
	stores(t, b, 1, 8, chainOf(1, 8, 0))
	for i := range 200 {
		now = now.Add(time.Second)
		prompt := chainOf(1000+i, 7, 0)
		b.Owe(3, prompt, now)
		b.Expect(3, prompt, now)
	}
	if b.Hushed().Has(3) || b.Misfits().Has(3) {
		t.Error("the replica is taken to be silent")
	}
	for i := range 200 {
		now = now.Add(time.Second)
		b.Owe(3, chainOf(3000+i, 9, 0), now)
	}
	if !b.Hushed().Has(3) {
		t.Error("the replica is not taken to be silent, though its blocks are owed")
	}
}

// coarseBeliefs are of one replica, in slot 3, which has begun.
func coarseBeliefs(t *testing.T, now func() time.Time) *Beliefs {
	x, guesses := oneHost(t)
	b := New(Config{Index: x, Guesses: guesses, TTL: 10 * time.Second,
		Differ: func() (none index.HostBitmap) { return none }, Cleared: func(index.HostID) {},
		Patience: func() time.Duration { return time.Second }})
	b.now = now
	b.Begin(3, time.Hour, 0)
	return b
}

// stores applies the first batch of a life.
func stores(t *testing.T, b *Beliefs, epoch uint64, grain uint16, blocks []kvpool.BlockHash) {
	t.Helper()
	if out := b.Apply(index.Batch{Host: 3, Epoch: epoch, Seq: 1, Grain: grain, Ops: []index.Op{{Kind: index.Store,
		RootKnown: true, Blocks: blocks}}}); out != index.Applied {
		t.Fatal(out)
	}
}
