package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEveryKeyIsFoundAndNoOther(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 7, 8, 9, 1000} {
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = dice.Uint32() >> (i % 20) // close ones too
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		r := newRows(keys)
		for row, k := range keys {
			if at, known := r.find(k); !known || int(at) != row {
				t.Fatalf("%d keys: %d is at %d, found %d, %v", n, k, row, at, known)
			}
			for _, near := range []uint32{k ^ 1, k + 256, dice.Uint32()} {
				_, known := r.find(near)
				if _, has := slices.BinarySearch(keys, near); known != has {
					t.Fatalf("%d keys: %d is known: %v", n, near, known)
				}
			}
		}
	}
}
