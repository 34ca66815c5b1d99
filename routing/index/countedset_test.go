package index

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// While a host is in, the set is never called empty, and once all changes are over it is called empty exactly when it
// is.
func TestCountedSetIsCalledEmptyOnlyWhenItIs(t *testing.T) {
	const stays = HostID(200)
	var b CountedSet
	b.Set(stays)
	var changing sync.WaitGroup
	for seed := range uint64(4) {
		changing.Go(func() {
			draw := rand.New(rand.NewPCG(seed, 1))
			for range 20_000 {
				if h := HostID(draw.IntN(8)); draw.IntN(2) == 0 {
					b.Set(h)
				} else {
					b.Clear(h)
				}
				if b.Empty() {
					t.Error("empty, with a host in it")
					return
				}
			}
		})
	}
	changing.Wait()
	now := b.Load()
	if got := b.count.Load(); got != int64(now.Count()) {
		t.Errorf("counts %d, holds %d", got, now.Count())
	}
	for h := range now.All() {
		b.Clear(h)
		b.Clear(h)
	}
	if !b.Empty() {
		t.Errorf("%d are left in an empty set", b.count.Load())
	}
}
