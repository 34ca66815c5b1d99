package kvpool

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowPieces joins pieces byte by byte and hashes chunk by chunk.
func slowPieces(h Hasher, root BlockHash, pieces [][]byte, chunk int) (chain []BlockHash) {
	var block []byte
	for _, piece := range pieces {
		for _, ch := range piece {
			if block = append(block, ch); len(block) == chunk {
				root = h.NextBytes(root, block)
				chain = append(chain, root)
				block = block[:0]
			}
		}
	}
	return chain
}

// checkPieces holds PiecesChain to slowPieces, and to what is known of a chain already.
func checkPieces(t *testing.T, pieces [][]byte, chunk int) {
	t.Helper()
	h, root := NewHasher(9), BlockHash(5)
	before := make([][]byte, len(pieces))
	for i, piece := range pieces {
		before[i] = bytes.Clone(piece)
	}
	want := slowPieces(h, root, pieces, chunk)
	if got := h.PiecesChain([]BlockHash{42}, root, pieces, chunk); got[0] != 42 || !slices.Equal(got[1:], want) {
		t.Fatalf("%q in chunks of %d: %x, want %x", pieces, chunk, got, want)
	}
	if got := h.TextChain(nil, root, bytes.Join(pieces, nil), chunk); !slices.Equal(got, want) {
		t.Fatalf("%q joined, in chunks of %d: %x, want %x", pieces, chunk, got, want)
	}
	if !slices.EqualFunc(pieces, before, bytes.Equal) {
		t.Fatal("the pieces are changed")
	}
}

func TestATextInPiecesHasTheChainOfTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 5000 {
		pieces := make([][]byte, rng.IntN(7))
		for i := range pieces {
			pieces[i] = make([]byte, []int{0, 9, 63, 64, 65, rng.IntN(400)}[rng.IntN(6)])
			for j := range pieces[i] {
				pieces[i][j] = byte(rng.Uint32())
			}
		}
		checkPieces(t, pieces, []int{64, 64, 1, 60, 128, 200, 1 + rng.IntN(300)}[rng.IntN(7)])
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte("some text that is cut up"), []byte{3, 0, 7}, uint8(4))
	f.Add(bytes.Repeat([]byte("0123456789"), 40), []byte{64, 64, 70}, uint8(64))
	f.Fuzz(func(t *testing.T, text, cuts []byte, chunk uint8) {
		var pieces [][]byte
		for _, n := range cuts {
			at := min(int(n), len(text))
			pieces = append(pieces, text[:at])
			text = text[at:]
		}
		checkPieces(t, append(pieces, text), max(1, int(chunk)))
	})
}

func TestPiecesAreHashedWithoutMemory(t *testing.T) {
	var h Hasher
	pieces := [][]byte{make([]byte, 10), make([]byte, 700), make([]byte, 17), make([]byte, 5000), make([]byte, 8)}
	chain := h.PiecesChain(nil, 1, pieces, 64)
	if n := testing.AllocsPerRun(20, func() { chain = h.PiecesChain(chain[:0], 1, pieces, 64) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
