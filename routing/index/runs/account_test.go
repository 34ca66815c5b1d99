package runs

import (
	"fmt"
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// A full index leaves what waits its part, what waits leaves the index three quarters, and together they never take
// more than there is.
//
//nolint:lll // raw text that cannot be broken
func TestAnIndexAndWhatWaitsKeepToOneAccount(t *testing.T) {
	const limit = 16 << 20
	a := index.NewAccount(limit)
	x, err := New(index.Config{Account: a})
	if err != nil || x.Admit(0) != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	fill := func() {
		for range 600 {
			seq++
			x.Apply(index.Batch{Seq: seq, Ops: []index.Op{{Kind: index.Store, Blocks: indextest.Chain(1000, fmt.Sprint(seq)), RootKnown: true}}})
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
	if !a.Wait(limit/16, 1) {
		t.Errorf("a full index of %d bytes leaves no room", full.Bytes)
	}
	fill()
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}
