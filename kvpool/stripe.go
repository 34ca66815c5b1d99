package kvpool

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// stripe is how many bytes are hashed side by side: a block of 16 tokens.
const stripe = 64

// keys are what a seed makes of the secret of xxh3, in the way of xxh3.
//
// A stripe's content is the sum of four products of two words each, every word XORed with a key of its own before and both halves of
// the 128 bits XORed into one after: XXH3 for 17 to 128 bytes. It does not depend on what was before, so that a processor works
// at many stripes at once. What follows its parent is one product more, of both. That alone waits for the one before: some 6 cycles.
//
//	content = Σ fold(word[2i] ^ key[2i], word[2i+1] ^ key[2i+1])      next = fold(parent ^ key[8], content + key[9])
//
// A block of more or less than a stripe has its length added to its parent. It is a step for each stripe, the last one filled with zeroes.
type keys [10]uint64

func (k *keys) set(seed uint64) {
	k[0], k[1] = 0xbe4ba423396cfeb8+seed, 0x1cad21f72c81017c-seed
	k[2], k[3] = 0xdb979083e96dd4de+seed, 0x1f67b3b7a4a44072-seed
	k[4], k[5] = 0x78e5c0cc4ee679cb+seed, 0x2172ffcc7dd05a82-seed
	k[6], k[7] = 0x8e2443f7744608b8+seed, 0x4c263a81e69035e0-seed
	k[8], k[9] = 0xcb00c391bb52283c+seed, 0xa32e531b8b65d088-seed
}

// next returns the hash of block behind parent.
func (k *keys) next(parent BlockHash, block []byte) BlockHash {
	parent += lengthOf(len(block))
	all := stripesOf(block)
	for i := range all {
		parent = k.follow(parent, &all[i])
	}
	if rest := block[len(all)*stripe:]; len(rest) > 0 {
		var last [stripe]byte
		copy(last[:], rest)
		parent = k.follow(parent, &last)
	}
	return parent
}

// chainByWords sets dst to the hashes of as many stripes, which are a block each. It is next without a call a block, which would double
// its cost.
func (k *keys) chainByWords(dst []BlockHash, parent BlockHash, all [][stripe]byte) {
	all = all[:len(dst)]
	for i := range all {
		b := &all[i]
		content := k[9] + fold(word(b, 0)^k[0], word(b, 1)^k[1])
		content += fold(word(b, 2)^k[2], word(b, 3)^k[3])
		content += fold(word(b, 4)^k[4], word(b, 5)^k[5])
		content += fold(word(b, 6)^k[6], word(b, 7)^k[7])
		parent = BlockHash(fold(uint64(parent)^k[8], content))
		dst[i] = parent
	}
}

// follow is next for a stripe.
func (k *keys) follow(parent BlockHash, b *[stripe]byte) BlockHash {
	content := k[9] + fold(word(b, 0)^k[0], word(b, 1)^k[1]) + fold(word(b, 2)^k[2], word(b, 3)^k[3]) +
		fold(word(b, 4)^k[4], word(b, 5)^k[5]) + fold(word(b, 6)^k[6], word(b, 7)^k[7])
	return BlockHash(fold(uint64(parent)^k[8], content))
}

// lengthOf tells blocks apart that are alike but for zeroes at their end, or that are one block here and two there.
func lengthOf(n int) BlockHash { return BlockHash(n-stripe) * 0x9E3779B97F4A7C15 }

// stripesOf views the full stripes of block.
func stripesOf(block []byte) [][stripe]byte {
	return unsafe.Slice((*[stripe]byte)(unsafe.Pointer(unsafe.SliceData(block))), len(block)/stripe)
}

func word(b *[stripe]byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

// fold multiplies and XORs both halves of the product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
