package bpe

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveMerge looks for the lowest rule anew after each.
func naiveMerge(m *merges, ids []uint32) []uint32 {
	for {
		at, least := -1, never
		for i := range len(ids) - 1 {
			if r := m.rule(ids[i], ids[i+1]); r < least {
				at, least = i, r
			}
		}
		if at < 0 {
			return ids
		}
		ids = slices.Replace(ids, at, at+2, uint32(least))
	}
}

// However the rules follow on each other, and even where a token comes of several rules, both ways to merge do what looking
// for the lowest rule again and again does.
func TestMergingIsExactForAnyRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	var s scratch
	for round := range 3000 {
		m := newMerges(12)
		for rank := range uint32(12) {
			m.add(rng.Uint32N(8), rng.Uint32N(8), rank, rng.Uint32N(8))
		}
		ids := make([]uint32, 2+rng.IntN(120))
		for i := range ids {
			ids[i] = rng.Uint32N(3 + uint32(round%3))
		}
		want := naiveMerge(m, slices.Clone(ids))
		if got := s.merge(m, slices.Clone(ids)); !slices.Equal(got, want) {
			t.Fatalf("round %d, %d symbols: got %v, want %v", round, len(ids), got, want)
		}
		if got := s.mergeLong(m, slices.Clone(ids)); !slices.Equal(got, want) {
			t.Fatalf("round %d, %d symbols in the long way: got %v, want %v", round, len(ids), got, want)
		}
	}
}
