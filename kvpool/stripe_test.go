package kvpool

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// slowNext is the definition, in numbers without bounds.
func slowNext(seed uint64, parent BlockHash, block []byte) BlockHash {
	k := keysOf(seed)
	h := uint64(parent) + (uint64(len(block))-64)*0x9E3779B97F4A7C15
	for padded := append(slices.Clone(block), make([]byte,
		(64-len(block)%64)%64)...); len(padded) > 0; padded = padded[64:] {
		sum := uint64(0)
		for i := 0; i < 8; i += 2 {
			sum += slowFold(binary.LittleEndian.Uint64(padded[8*i:])+k[i],
				binary.LittleEndian.Uint64(padded[8*i+8:])+k[i+1])
		}
		h ^= sum ^ sum<<24
		h = (h<<27 | h>>37) * 5
	}
	return BlockHash(h)
}

func slowFold(a, b uint64) uint64 {
	p := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	low := new(big.Int).And(p, new(big.Int).SetUint64(math.MaxUint64))
	return low.Uint64() ^ p.Rsh(p, 64).Uint64()
}

// Every routine has the values of the portable one, wherever text and hashes begin and end, and touches nothing else:
// there is no memory around them.
func TestChainsAreTheSameByEveryMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text, hashes := pages(t, 3), pages(t, 1)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	room := unsafe.Slice((*BlockHash)(unsafe.Pointer(&hashes[0])), len(hashes)/8)
	for n := range min(len(text)/64, 130) {
		for _, from := range []int{0, len(text) - 64*n, rng.IntN(len(text) - 64*n + 1)} {
			k := keysOf(rng.Uint64())
			parent, all := BlockHash(rng.Uint64()), stripesOf(text[from:from+64*n])
			want := make([]BlockHash, n)
			k.chainByWords(want, parent, all)
			eachMeans(func(name string) {
				for _, to := range []int{0, len(room) - n, 1} {
					clear(room)
					k.chain(room[to:to+n:to+n], parent, all)
					if !slices.Equal(room[to:to+n], want) || nonzero(room[:to])+nonzero(room[to+n:]) > 0 {
						t.Fatalf("%s: %d blocks from %d on: %x by words, else %x", name, n, from, want, room[to:to+n])
					}
				}
			})
		}
	}
}

func nonzero(all []BlockHash) (n int) {
	for _, h := range all {
		if h != 0 {
			n++
		}
	}
	return n
}

func TestChainsFollowTheDefinition(t *testing.T) {
	eachMeans(func(string) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			text := make([]byte, rng.IntN(1700))
			for i := range text {
				text[i] = byte(rng.Uint32())
			}
			size := []int{64, 64, 128, 256, 1 + rng.IntN(200)}[rng.IntN(5)]
			checkDefinition(t, NewHasher(rng.Uint64()), BlockHash(rng.Uint64()), text, size)
		}
	})
}

// checkDefinition hashes text in blocks of size by definition and else.
func checkDefinition(t *testing.T, h Hasher, root BlockHash, text []byte, size int) {
	t.Helper()
	chain := h.TextChain(nil, root, text, size)
	if len(chain) != len(text)/size {
		t.Fatalf("%d blocks of %d bytes in %d", len(chain), size, len(text))
	}
	for i, got := range chain {
		block := text[i*size : (i+1)*size]
		if want := slowNext(h.seed, root, block); got != want || h.NextBytes(root, block) != want {
			t.Fatalf("block %d of %d bytes is %#x, step by step %#x, by definition %#x", i, size, got,
				h.NextBytes(root, block), want)
		}
		root = got
	}
}

func FuzzStripes(f *testing.F) {
	f.Add(plain(64*17+5), uint64(7), uint64(8), uint8(64), uint8(3))
	f.Add(make([]byte, 64*8), uint64(0), uint64(0), uint8(64), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, seed, root uint64, size, from uint8) {
		if size == 0 {
			return
		}
		text = text[min(int(from), len(text)):]
		eachMeans(func(string) { checkDefinition(t, NewHasher(seed), BlockHash(root), text, int(size)) })
	})
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

// Each bit of block and seed turns each bit of the hash in half of the cases.
func TestEveryBitTurnsEveryBit(t *testing.T) {
	const rounds = 600
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{16, 64, 100} {
		turned := make([][64]int, 8*size+64)
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

// turn hashes with one bit turned: of the block, then of the seed.
func turn(block []byte, parent BlockHash, seed uint64, i int) BlockHash {
	if n := 8 * len(block); i < n {
		block[i/8] ^= 1 << (i % 8)
		defer func() { block[i/8] ^= 1 << (i % 8) }()
	} else {
		seed ^= 1 << (i - n)
	}
	return NewHasher(seed).NextBytes(parent, block)
}

// What is unlike in two parents is never made alike by the same blocks behind them.
func TestBlocksKeepParentsApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	text := plain(64 * 16)
	for range 600 {
		h, parent := NewHasher(rng.Uint64()), BlockHash(rng.Uint64())
		was := h.TextChain(nil, parent, text, 64)
		for bit := range 64 {
			is := h.TextChain(nil, parent^1<<bit, text, 64)
			for i := range is {
				if is[i] == was[i] {
					t.Fatalf("%#x and %#x are the same %d blocks on", parent, parent^1<<bit, i+1)
				}
			}
		}
	}
}

// Sixteen million blocks, without the race detector, that a weak hash would confuse: none are alike, and each half of
// the hash is as good as 32 random bits.
func TestStructuredBlocksDoNotCollide(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts sixteen million hashes")
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

// The lowest and the highest bits of each kind's hashes by themselves are as even as random ones.
func TestStructuredBlocksSpreadEvenly(t *testing.T) {
	const bins = 1 << 12
	for i, kind := range structured {
		all := kind(nil, structuredEach)
		for _, shift := range []int{0, 52} {
			var count [bins]float64
			for _, h := range all {
				count[h>>shift%bins]++
			}
			each, chi := float64(len(all))/bins, 0.0
			for _, n := range count {
				chi += (n - each) * (n - each) / each
			}
			if sigmas := (chi - (bins - 1)) / math.Sqrt(2*(bins-1)); sigmas > 6 {
				t.Errorf("kind %d: %.1f standard deviations too uneven in the 12 bits from %d on", i, sigmas, shift)
			}
		}
	}
}
