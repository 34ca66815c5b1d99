package index

import (
	"fmt"
	"sync"
	"testing"
)

// A full index leaves what waits its part, what waits leaves the index three quarters, and together they never take
// more than there is.
func TestAnIndexAndWhatWaitsKeepToOneAccount(t *testing.T) {
	const limit = 16 << 20
	a := NewAccount(limit)
	x, err := New(Config{Account: a})
	if err != nil || x.Admit(0) != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	fill := func() {
		for range 600 {
			seq++
			x.Apply(Batch{Seq: seq, Ops: []Op{{Kind: Store, Blocks: chainOf(1000, fmt.Sprint(seq)), RootKnown: true}}})
			if sum := x.Stats().Bytes + a.Waiting(); sum > limit {
				t.Fatalf("%d bytes of %d", sum, limit)
			}
		}
	}
	if !a.Wait(a.Share()/2, 2) || a.Wait(1, 2) || !a.Wait(a.Share()/2, 1) || a.Wait(1, 1) {
		t.Fatalf("%d bytes wait of %d", a.Waiting(), a.Share())
	}
	fill()
	beside := x.Stats()
	a.Release(a.Share())
	fill()
	full := x.Stats()
	if full.Bytes <= beside.Bytes || beside.Bytes > limit-a.Share() || full.Evicted == 0 && !lockedReads {
		t.Errorf("%+v beside what waits, %+v alone", beside, full)
	}
	if !a.Wait(limit/waitingKept, 1) {
		t.Errorf("a full index of %d bytes leaves no room", full.Bytes)
	}
	fill()
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestAnAccountIsNeverOverdrawnByManyAtOnce(t *testing.T) {
	a := NewAccount(1 << 20)
	m := &memory{Account: a}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range int64(5000) {
				if n = 1000 + n%7000; i%2 == 0 && a.Wait(n, 1) {
					defer a.Release(n)
				} else if i%2 == 1 && m.take(n) {
					defer m.give(n)
				}
				a.mu.Lock()
				sum := a.index + a.waiting
				a.mu.Unlock()
				if sum > 1<<20 || a.Waiting() > a.Share() {
					t.Errorf("%d bytes", sum)
				}
			}
		})
	}
	all.Wait()
	if a.used() != 0 || a.Waiting() != 0 {
		t.Errorf("%d and %d bytes are left", a.used(), a.Waiting())
	}
}
