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

// However the rules follow on each other, and even where a token comes of several rules, both ways to merge do what
// looking for the lowest rule again and again does.
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

// What is merged by stretches is what looking for the lowest rule again and again gives, whatever the order of the
// rules.
func TestMergingByStretchesIsExactForAnyRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	var s scratch
	taken := 0
	for round := range 20000 {
		m := newMerges(12)
		for rank := range uint32(12) {
			m.add(rng.Uint32N(8), rng.Uint32N(8), rank, rng.Uint32N(8)+4*uint32(round%2))
		}
		var ids []uint32
		for range 1 + rng.IntN(4) {
			ids = append(ids, slices.Repeat([]uint32{rng.Uint32N(4)}, 1+rng.IntN(40))...)
		}
		want := naiveMerge(m, slices.Clone(ids))
		got, ok := s.mergeStretches(m, slices.Clone(ids))
		if !ok {
			if !slices.Equal(got, ids) {
				t.Fatalf("round %d: what could not be merged was changed", round)
			}
			continue
		}
		if taken++; !slices.Equal(got, want) {
			t.Fatalf("round %d: %v: got %v, want %v", round, ids, got, want)
		}
	}
	if taken < 1000 {
		t.Errorf("only %d words were merged by stretches", taken)
	}
}

// A long word of few stretches is what merging its symbols one by one gives, with a vocabulary that text has made.
func TestLongStretchesAreByTheLetter(t *testing.T) {
	fast, _ := small(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var word []byte
		for range 1 + rng.IntN(4) {
			word = append(word, slices.Repeat([]byte{" =-a\n#/"[rng.IntN(7)]}, 1+rng.IntN(200))...)
		}
		var s scratch
		ids := fast.vocabulary.byBytes(nil, word)
		want := naiveMerge(fast.vocabulary.merges, slices.Clone(ids))
		if got := s.merge(fast.vocabulary.merges, ids); !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", word, got, want)
		}
	}
}
