package index

import (
	"math/rand/v2"
	"testing"
)

// Sets do what maps do, in all of their words.
func TestSetsOfHostsDoWhatMapsDo(t *testing.T) {
	draw := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		var a, b HostBitmap
		inA, inB := map[HostID]bool{}, map[HostID]bool{}
		for range draw.IntN(5) {
			h := HostID(draw.IntN(MaxHosts))
			a.Set(h)
			inA[h] = true
			if draw.IntN(2) == 0 {
				b.Set(h)
				inB[h] = true
			}
		}
		if draw.IntN(3) == 0 {
			h := HostID(draw.IntN(MaxHosts))
			b.Set(h)
			inB[h] = true
		}
		kept, same := a, len(inA) == len(inB)
		fewer := kept.Keep(&b)
		for h := range HostID(MaxHosts) {
			same = same && inA[h] == inB[h]
			if a.And(b).Has(h) != (inA[h] && inB[h]) || a.AndNot(b).Has(h) != (inA[h] && !inB[h]) ||
				a.Or(b).Has(h) != (inA[h] || inB[h]) ||
				kept.Has(h) != (inA[h] && inB[h]) {
				t.Fatalf("host %d of %x and %x", h, a, b)
			}
		}
		if a.Equal(&b) != same || fewer != !kept.Equal(&a) || a.Empty() != (len(inA) == 0) || a.Count() != len(inA) {
			t.Fatalf("%x and %x: equal %v, kept %x, fewer %v", a, b, a.Equal(&b), kept, fewer)
		}
	}
}
