package bpe

import (
	"math/rand/v2"
	"testing"
)

// The table knows what a map knows, of words that differ in a byte of zero, in their last byte or in their length
// alone.
func TestWordsAreFoundAsInAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	word := func() string {
		w := make([]byte, 1+rng.IntN(20))
		for i := range w {
			w[i] = "\x00\x00\x00a\xff"[rng.IntN(5)]
		}
		return string(w)
	}
	for range 20 {
		known := map[string]uint32{}
		for range 2000 {
			known[word()] = rng.Uint32()
		}
		table := newWordTable(len(known))
		for w, id := range known {
			table.add(w, id)
		}
		for range 10_000 {
			w := word()
			id, ok := table.id([]byte(w))
			if want, is := known[w]; ok != is || id != want {
				t.Fatalf("%q: %d, %v; want %d, %v", w, id, ok, want, is)
			}
		}
	}
}
