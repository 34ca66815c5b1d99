package kvpool

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowNext is the definition, in numbers without bounds.
func slowNext(seed uint64, parent BlockHash, block []byte) BlockHash {
	var k keys
	k.set(seed)
	h := uint64(parent) + (uint64(len(block))-64)*0x9E3779B97F4A7C15
	for padded := append(slices.Clone(block), make([]byte, (64-len(block)%64)%64)...); len(padded) > 0; padded = padded[64:] {
		sum := uint64(0)
		for i := 0; i < 8; i += 2 {
			sum += slowFold(binary.LittleEndian.Uint64(padded[8*i:])^k[i], binary.LittleEndian.Uint64(padded[8*i+8:])^k[i+1])
		}
		h = slowFold(h^k[8], sum+k[9])
	}
	return BlockHash(h)
}

func slowFold(a, b uint64) uint64 {
	p := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	low := new(big.Int).And(p, new(big.Int).SetUint64(math.MaxUint64))
	return low.Uint64() ^ p.Rsh(p, 64).Uint64()
}

// The portable code has the same values as that for the processor at hand, whatever is behind text.
func TestChainsAreTheSameOnEveryMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := make([]byte, 64*300+63)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	for n := range 300 {
		var k keys
		k.set(rng.Uint64())
		parent, all := BlockHash(rng.Uint64()), stripesOf(text[rng.IntN(64):])
		got, want := make([]BlockHash, n+1), make([]BlockHash, n)
		k.chain(got[:n], parent, all)
		k.chainByWords(want, parent, all)
		if !slices.Equal(got[:n], want) || got[n] != 0 {
			t.Fatalf("%d blocks: %x by words, else %x", n, want, got)
		}
	}
}

func TestChainsFollowTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := make([]byte, rng.IntN(700))
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		h, root, size := NewHasher(rng.Uint64()), BlockHash(rng.Uint64()), []int{64, 64, 128, 256, 1 + rng.IntN(200)}[rng.IntN(5)]
		chain := h.TextChain(nil, root, text, size)
		if len(chain) != len(text)/size {
			t.Fatalf("%d blocks of %d bytes in %d", len(chain), size, len(text))
		}
		for i, got := range chain {
			block := text[i*size : (i+1)*size]
			if want := slowNext(h.seed, root, block); got != want || h.NextBytes(root, block) != want {
				t.Fatalf("block %d of %d bytes is %#x, step by step %#x, by definition %#x", i, size, got, h.NextBytes(root, block), want)
			}
			root = got
		}
	}
}

// A block is not the blocks that it could be cut into, nor a shorter one with zeroes.
func TestLengthIsPartOfABlock(t *testing.T) {
	var h Hasher
	seen := map[BlockHash]int{}
	for n := range 1025 {
		hash := h.NextBytes(7, make([]byte, n))
		if other, ok := seen[hash]; ok {
			t.Fatalf("%d and %d zeroes are the same", other, n)
		}
		seen[hash] = n
	}
	whole, parts := h.TextChain(nil, 7, make([]byte, 1024), 128), h.TextChain(nil, 7, make([]byte, 1024), 64)
	for _, hash := range whole {
		if slices.Contains(parts, hash) {
			t.Fatal("a chain of long blocks meets one of short ones")
		}
	}
}

// Each bit of block, parent and seed turns each bit of the hash in half of the cases.
func TestEveryBitTurnsEveryBit(t *testing.T) {
	const rounds = 600
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{16, 64, 100} {
		turned := make([][64]int, 8*size+128)
		for range rounds {
			block, parent, seed := make([]byte, size), BlockHash(rng.Uint64()), rng.Uint64()
			for i := range block {
				block[i] = "the quick brown fox {}();\n"[rng.IntN(26)] // as text is: most bits hardly change
			}
			was := NewHasher(seed).NextBytes(parent, block)
			for i := range turned {
				is := turn(block, parent, seed, i)
				for diff := uint64(was ^ is); diff != 0; diff &= diff - 1 {
					turned[i][bits.TrailingZeros64(diff)]++
				}
			}
		}
		for i := range turned {
			for j, n := range turned[i] {
				if off := math.Abs(float64(n) - rounds/2); off > 6*math.Sqrt(rounds)/2 {
					t.Errorf("%d bytes: input bit %d turns bit %d in %d of %d", size, i, j, n, rounds)
				}
			}
		}
	}
}

// turn hashes with one bit turned: of the block, then of the parent, then of the seed.
func turn(block []byte, parent BlockHash, seed uint64, i int) BlockHash {
	switch n := 8 * len(block); {
	case i < n:
		block[i/8] ^= 1 << (i % 8)
		defer func() { block[i/8] ^= 1 << (i % 8) }()
	case i < n+64:
		parent ^= 1 << (i - n)
	default:
		seed ^= 1 << (i - n - 64)
	}
	return NewHasher(seed).NextBytes(parent, block)
}

// Ten million blocks, without the race detector, that a weak hash would confuse: none are alike, and each half of the hash is as good as 32 random bits.
func TestStructuredBlocksDoNotCollide(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts ten million hashes")
	}
	var all []BlockHash
	for _, kind := range structured {
		all = kind(all, structuredEach)
	}
	slices.Sort(all)
	for i := range all[1:] {
		if all[i] == all[i+1] {
			t.Fatalf("%#x twice", all[i])
		}
	}
	pairs := float64(len(all)) * float64(len(all)-1) / 2 / (1 << 32)
	for _, half := range []string{"upper", "lower"} {
		got, run := 0.0, 0.0
		for i := range all[1:] {
			if run++; all[i]>>32 != all[i+1]>>32 {
				run = 0
			}
			got += run
		}
		if math.Abs(got-pairs) > 6*math.Sqrt(pairs) {
			t.Errorf("%d blocks: %v pairs of one %s half, %v are to be expected", len(all), got, half, pairs)
		}
		for i, h := range all {
			all[i] = h<<32 | h>>32
		}
		slices.Sort(all)
	}
}

// structured are ways to make many blocks that differ in little, none twice.
var structured = []func(dst []BlockHash, n int) []BlockHash{
	fill(func(w *[8]uint64, i uint64) { w[i%8] = 1 + i/8 }),               // a counter in each word
	fill(func(w *[8]uint64, i uint64) { w[i%8] = (1 + i/8) << 40 }),       // …in its upper bytes
	fill(func(w *[8]uint64, i uint64) { w[i%2*4], w[7] = 2+i/2, 1 }),      // halves changed about
	fill(func(w *[8]uint64, i uint64) { w[0], w[1], w[2] = 1+i, 1+i, 3 }), // equal factors
	fill(func(w *[8]uint64, i uint64) { w[0], w[1], w[3] = i, ^i, 4 }),    // opposite ones
	fill(func(w *[8]uint64, i uint64) { w[0], w[2], w[5] = 1+i, -i, 5 }),  // what one product gains another one loses
	fill(func(w *[8]uint64, i uint64) { w[6], w[7] = i>>10, 1<<30|i }),    // a grid
	fill(func(w *[8]uint64, i uint64) { permute(w, i%40320, i/40320) }),   // words between lanes
	follow, parents, shifted,
}

func fill(set func(w *[8]uint64, i uint64)) func([]BlockHash, int) []BlockHash {
	return func(dst []BlockHash, n int) []BlockHash {
		var h Hasher
		var block [64]byte
		for i := range n {
			var w [8]uint64
			set(&w, uint64(i))
			for j, word := range w {
				binary.LittleEndian.PutUint64(block[8*j:], word)
			}
			dst = append(dst, h.NextBytes(1, block[:]))
		}
		return dst
	}
}

// permute sets w to permutation number i of eight words, which are another eight for each base.
func permute(w *[8]uint64, i, base uint64) {
	from := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	for j := range w {
		n := uint64(len(from))
		at := int(i % n)
		i /= n
		w[j] = from[at]*0x0101010101010101 + base<<32
		from = slices.Delete(from, at, at+1)
	}
}

// follow repeats one block, behind itself.
func follow(dst []BlockHash, n int) []BlockHash {
	return Hasher{}.TextChain(dst, 2, make([]byte, 64*n), 64)
}

// parents hangs one block on roots that are numbers.
func parents(dst []BlockHash, n int) []BlockHash {
	for i := range n {
		dst = append(dst, Hasher{}.Next(BlockHash(3+i), []uint32{1, 2, 3}))
	}
	return dst
}

// shifted moves a window over a text of numbers.
func shifted(dst []BlockHash, n int) []BlockHash {
	var text []byte
	for i := uint64(0); len(text) < n+64; i++ {
		text = binary.LittleEndian.AppendUint64(text, i)
	}
	for i := range n {
		dst = append(dst, Hasher{}.NextBytes(4, text[i:i+64]))
	}
	return dst
}
