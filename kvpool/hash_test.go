package kvpool

import (
	"encoding/binary"
	"slices"
	"testing"
)

func sequential(n int, from uint32) []uint32 {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = from + uint32(i)
	}
	return tokens
}

func chainOf(tokens []uint32, blockSize int) []BlockHash {
	var h Hasher
	return h.Chain(nil, h.Root("debug", "", ""), tokens, blockSize)
}

// MOD2-36: a block's hash covers its own tokens and the previous block's hash.
func TestBlockHashCoversItsTokensAndItsParent(t *testing.T) {
	h := NewHasher(7)
	root := h.Root("stl", "", "")
	tokens := sequential(6, 0)
	chain := h.Chain(nil, root, tokens, 3)
	want := []BlockHash{h.Next(root, tokens[:3]), h.Next(h.Next(root, tokens[:3]), tokens[3:])}
	if !slices.Equal(chain, want) {
		t.Fatalf("chain is %x, step by step it is %x", chain, want)
	}
	for i := range tokens {
		changed := slices.Clone(tokens)
		changed[i]++
		other := h.Chain(nil, root, changed, 3)
		for block := range chain {
			if same := chain[block] == other[block]; same != (block < i/3) {
				t.Errorf("token %d changed: hash of block %d is the same: %t", i, block, same)
			}
		}
	}
}

// MOD2-37: equal tokens in block 3 behind different earlier tokens give different hashes.
func TestEqualBlocksBehindDifferentPrefixesDiffer(t *testing.T) {
	a, b := sequential(64, 0), sequential(64, 0)
	b[5] = 99
	ha, hb := chainOf(a, 16), chainOf(b, 16)
	if !slices.Equal(a[48:], b[48:]) || ha[3] == hb[3] {
		t.Fatalf("block 3: tokens equal, hashes %x and %x", ha[3], hb[3])
	}
}

// MEGA-34, MEGA-35: specialist, adapter and salt are part of the key, through block 0 and so through all.
func TestRootsKeepSpecialistsAdaptersAndTenantsApart(t *testing.T) {
	h := NewHasher(1)
	tokens := sequential(48, 0)
	roots := [][3]string{
		{"debug", "", ""}, {"debug", "gdb-v1", ""}, {"debug", "gdb-v2", ""}, {"debug", "", "acme"}, {"build", "", ""},
		{"debugg", "db-v1", ""}, {"", "debug", ""}, {"", "", "debug"}, // the same bytes, cut elsewhere
	}
	seen := map[BlockHash][3]string{}
	for _, r := range roots {
		for _, block := range h.Chain(nil, h.Root(r[0], r[1], r[2]), tokens, 16) {
			if other, ok := seen[block]; ok {
				t.Errorf("%q and %q share hash %x", r, other, block)
			}
			seen[block] = r
		}
	}
	if h.Root("debug", "a", "") != h.Root("debug", "a", "") {
		t.Error("a root is not a function of its parts")
	}
}

func TestPartialBlocksHaveNoHash(t *testing.T) {
	for _, c := range []struct{ tokens, blockSize, blocks int }{{0, 16, 0}, {15, 16, 0}, {16, 16, 1}, {31, 16, 1},
		{32, 16, 2}, {7, 1, 7}} {
		if got := len(chainOf(sequential(c.tokens, 0), c.blockSize)); got != c.blocks {
			t.Errorf("%d tokens in blocks of %d: %d hashes, want %d", c.tokens, c.blockSize, got, c.blocks)
		}
	}
}

func TestChainAppendsToWhatIsThere(t *testing.T) {
	var h Hasher
	root := h.Root("algo", "", "")
	first := []BlockHash{42}
	if got := h.Chain(first, root, sequential(16, 0), 16); len(got) != 2 || got[0] != 42 {
		t.Fatalf("chain is %x", got)
	}
	if got := h.TextChain(first, root, []byte("abcdef"), 4); len(got) != 2 || got[0] != 42 ||
		got[1] != h.NextBytes(root, []byte("abcd")) {
		t.Fatalf("text chain is %x", got)
	}
}

func TestSeedsNeverMeet(t *testing.T) {
	a, b := NewHasher(1), NewHasher(2)
	if a.Root("x", "", "") == b.Root("x", "", "") {
		t.Error("roots of two seeds are equal")
	}
	if a.Next(9, []uint32{1}) == b.Next(9, []uint32{1}) {
		t.Error("blocks of two seeds are equal")
	}
}

// Hashes travel between processes, so they are pinned: a change here is a change of protocol.
func TestHashesAreTheSameEverywhere(t *testing.T) {
	h := NewHasher(42)
	root := h.Root("template", "concepts-v1", "acme")
	chain := h.Chain(nil, root, sequential(16, 100), 8)
	got := []BlockHash{root, chain[0], chain[1], h.NextBytes(root, []byte("template<class T>"))}
	want := []BlockHash{0x6260186e6a6ba394, 0x296e77020c2f581e, 0xcfeb382bebedf96d, 0x948e1f8e3e1732c2}
	if !slices.Equal(got, want) {
		t.Fatalf("hashes are %#x, want %#x", got, want)
	}
}

func TestTokensAreHashedLittleEndian(t *testing.T) {
	tokens := []uint32{1, 0x01020304, 0xFFFFFFFF}
	var bytes []byte
	for _, token := range tokens {
		bytes = binary.LittleEndian.AppendUint32(bytes, token)
	}
	var h Hasher
	if h.Next(5, tokens) != h.NextBytes(5, bytes) {
		t.Fatal("this machine is not little-endian: hashes would not meet those of others")
	}
}

// A chain is a function of its root and of all tokens so far, however it is cut; another token, root or seed anywhere
// makes all that follows other. MOD2-36, MOD2-37
func FuzzChain(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), uint8(2), uint8(1), uint8(5), uint64(7))
	f.Add([]byte{}, uint8(16), uint8(0), uint8(0), uint64(0))
	f.Fuzz(func(t *testing.T, ids []byte, size, cut, change uint8, seed uint64) {
		if size == 0 {
			return
		}
		h, blockSize := NewHasher(seed), int(size)
		tokens := make([]uint32, len(ids)/4)
		for i := range tokens {
			tokens[i] = binary.LittleEndian.Uint32(ids[4*i:])
		}
		root := h.Root("a", "b", "c")
		whole := h.Chain(nil, root, tokens, blockSize)
		pieces := h.Extend(nil, root, nil, tokens[:min(int(cut), len(tokens))], blockSize)
		pieces = h.Extend(pieces, root, nil, tokens[len(pieces)*blockSize:], blockSize)
		if !slices.Equal(whole, pieces) || len(whole) != len(tokens)/blockSize {
			t.Fatalf("%d blocks in one, %d in pieces, of %d tokens", len(whole), len(pieces), len(tokens))
		}
		if len(whole) == 0 {
			return
		}
		at := int(change) % (len(whole) * blockSize)
		tokens[at]++
		other := h.Chain(nil, root, tokens, blockSize)
		for i := range whole {
			if (whole[i] == other[i]) != (i < at/blockSize) {
				t.Fatalf("token %d changed, and block %d is the same: %v", at, i, whole[i] == other[i])
			}
		}
		tokens[at]--
		if h.Chain(nil, h.Root("a", "", "bc"), tokens, blockSize)[0] == whole[0] ||
			NewHasher(seed+1).Chain(nil, root, tokens, blockSize)[0] == whole[0] {
			t.Fatal("another root or seed makes the same block")
		}
	})
}
