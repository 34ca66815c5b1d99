package kvpool

import (
	"encoding/binary"
	"slices"
)

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
	follow, parents, shifted, smallTokens, oneByte, swappedWords, swappedBlocks, twoBlocks,
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

// parents hangs one block on the roots of many tenants.
func parents(dst []BlockHash, n int) []BlockHash {
	for i := range n {
		root := Hasher{}.Root("a", "", string(binary.AppendUvarint(nil, uint64(i))))
		dst = append(dst, Hasher{}.Next(root, []uint32{1, 2, 3}))
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

// smallTokens counts up two tokens of sixteen, which are all below 2^17.
func smallTokens(dst []BlockHash, n int) []BlockHash {
	var h Hasher
	for i := range uint32(n) {
		pair := i >> 14
		tokens := []uint32{100, 2, 31, 4, 50, 6, 17, 80, 9, 10, 11, 120, 13, 14, 150, 16}
		a, b := pair%16, (pair%16+1+pair/16)%16
		tokens[a] += 1000 + i&127
		tokens[b] += 2000 + i>>7&127
		dst = append(dst, h.Next(5, tokens))
	}
	return dst
}

// plain is a text of which no 64 bytes are there twice.
func plain(bytes int) (text []byte) {
	words := []string{"the ", "request ", "of ", "a ", "client ", "returns ", "an ", "error, ", "when ", "it ", "is\n",
		"not ", "there. "}
	for seed := uint64(1); len(text) < bytes; seed = seed*6364136223846793005 + 1442695040888963407 {
		text = append(text, words[seed>>33%13]...)
	}
	return text[:bytes]
}

// oneByte changes one letter of a block of text, to each of 64 others at each place, and a letter of the block before
// it that is as often another.
func oneByte(dst []BlockHash, n int) []BlockHash {
	var h Hasher
	for i := 0; n > 0; i++ {
		text := plain(128)
		text[i/63%64] ^= byte(1 + i%63)
		root := h.NextBytes(6, text[:64])
		for j := 0; j < 64*64 && n > 0; j, n = j+1, n-1 {
			block := text[64:]
			was := block[j/64]
			block[j/64] ^= byte(1 + j%64)
			dst = append(dst, h.NextBytes(root, block))
			block[j/64] = was
		}
	}
	return dst[:len(dst):len(dst)]
}

// swappedWords changes two words of a block of text about, where they are not the same: each two of all blocks.
func swappedWords(dst []BlockHash, n int) []BlockHash {
	var h Hasher
	text, from := plain(64*(n/24+1)), len(dst)
	for ; len(dst)-from < n; text = text[64:] {
		for a := range 8 {
			for b := range a {
				block := [64]byte(text)
				if string(block[8*a:8*a+8]) == string(block[8*b:8*b+8]) {
					continue
				}
				swap(block[8*a:8*a+8], block[8*b:8*b+8])
				dst = append(dst, h.NextBytes(7, block[:]))
			}
		}
	}
	return dst[:from+n]
}

// swappedBlocks changes two blocks of a prompt about that are a power of two apart; what is behind them is what could
// be alike.
func swappedBlocks(dst []BlockHash, n int) []BlockHash {
	var h Hasher
	text, from := plain(64*1100), len(dst)
	for i := 0; len(dst)-from < n; i++ {
		at, apart := i/11, 1<<(i%11)
		if at+apart >= 1080 {
			continue
		}
		a, b := text[64*at:64*at+64], text[64*(at+apart):64*(at+apart)+64]
		if string(a) == string(b) {
			continue
		}
		swap(a, b)
		chain := h.TextChain(nil, 8, text, 64)
		dst = append(dst, chain[at+apart:]...)
		swap(a, b)
	}
	return dst[:from+n]
}

func swap(a, b []byte) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}

// twoBlocks counts in two blocks, one behind the other.
func twoBlocks(dst []BlockHash, n int) []BlockHash {
	var h Hasher
	for i := range uint32(n) {
		dst = append(dst, h.Next(h.Next(9, []uint32{i >> 10}), []uint32{i & 1023}))
	}
	return dst
}
