package fleet

import (
	"math/rand/v2"
	"sync"
	"testing"

	"octet/routing/index"
)

// While anybody is in, the set is never called empty, and once all changes are over it is called empty exactly when it
// is.
func TestBitsAreCalledEmptyOnlyWhenTheyAre(t *testing.T) {
	const stays = index.HostID(200)
	var b bits
	b.set(stays)
	var changing sync.WaitGroup
	for seed := range uint64(4) {
		changing.Go(func() {
			draw := rand.New(rand.NewPCG(seed, 1))
			for range 20_000 {
				if h := index.HostID(draw.IntN(8)); draw.IntN(2) == 0 {
					b.set(h)
				} else {
					b.clear(h)
				}
				if b.empty() {
					t.Error("empty, with a host in it")
					return
				}
			}
		})
	}
	changing.Wait()
	now := b.load()
	if got := b.count.Load(); got != int64(now.Count()) {
		t.Errorf("counts %d, holds %d", got, now.Count())
	}
	for h := range now.All() {
		b.clear(h)
		b.clear(h)
	}
	if !b.empty() {
		t.Errorf("%d are left of nobody", b.count.Load())
	}
}
