package kvpool

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// stripe is how many bytes are hashed side by side: a block of 16 tokens.
const stripe = 64

// golden is 2^64/φ.
const golden = 0x9E3779B97F4A7C15

// keys are the first eight numbers of SplitMix64 (Steele, Lea, Flood, 2014) from a seed.
//
// A stripe's content is the sum of four products of two words each. To every word a key of its own is added before, and
// both halves of a product's 128 bits are XORed into one after. It does not depend on what was before, so that a
// processor works at many stripes at once. What follows its parent takes an XOR, a rotation and a multiplication by
// five, 3 cycles, and they alone wait for the stripe before.
//
//	sum = Σ fold(word[2i] + key[2i], word[2i+1] + key[2i+1])     content = sum ^ sum<<24
//	next = 5 · rotate(parent ^ content, 27)
//
// The products are those of NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, 1999) on words of 64 bits, as in VHASH
// (Krovetz, Dai, 2007); folding them is from wyhash and XXH3. Under random keys, the whole products of two words and of
// two others are the same once in 2^64, whatever the words are, and as often one word is a zero that hides the other.
// For sums of folded products no bound is proven; a seed of 64 bits could not give a better one than 2^-64. Tokens
// below 2^17 are no weaker than noise: on 32 bits, NH has 2^52 sums for them.
//
// The lower bits of a sum are the better ones for blocks that only count up; the shift has them make all bits of a hash
// even. What follows two parents that are not the same is not the same: a step can be undone. It spreads little of what
// is in the parent alone, and need not: parents are hashes.
//
// A polynomial of the contents modulo 2^64 would allow many steps at once. But there, blocks that change places 2^n
// blocks apart have n+2 bits less to tell, and 1024 blocks of two kinds in the order of Thue and Morse have the hash of
// the opposite order under every seed. With a rotation between XOR and product, there is no such ring: in a model of 12
// bits, whose collisions can be counted, changed places at all distances, runs of one block and that order are as rare
// as chance (TestStepsOfAModelCollideByChance).
//
// A block of more or less than a stripe has its length added to its parent. It is a step for each stripe, the last one
// filled with zeroes.
type keys [8]uint64

func keysOf(seed uint64) *keys {
	k := new(keys)
	for i := range k {
		seed += golden
		z := (seed ^ seed>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		k[i] = z ^ z>>31
	}
	return k
}

// next returns the hash of block behind parent.
func (k *keys) next(parent BlockHash, block []byte) BlockHash {
	parent += lengthOf(len(block))
	all := stripesOf(block)
	for i := range all {
		parent = k.nextStripe(parent, &all[i])
	}
	if rest := block[len(all)*stripe:]; len(rest) > 0 {
		var last [stripe]byte
		copy(last[:], rest)
		parent = k.nextStripe(parent, &last)
	}
	return parent
}

// chainByWords sets dst to the hashes of as many stripes, which are a block each. It is next without a call a block,
// which would double its cost.
func (k *keys) chainByWords(dst []BlockHash, parent BlockHash, all [][stripe]byte) {
	all = all[:len(dst)]
	for i := range all {
		b := &all[i]
		sum := fold(word(b, 0)+k[0], word(b, 1)+k[1])
		sum += fold(word(b, 2)+k[2], word(b, 3)+k[3])
		sum += fold(word(b, 4)+k[4], word(b, 5)+k[5])
		sum += fold(word(b, 6)+k[6], word(b, 7)+k[7])
		parent = parent.step(sum)
		dst[i] = parent
	}
}

// nextStripe is next for a block of one stripe.
func (k *keys) nextStripe(parent BlockHash, b *[stripe]byte) BlockHash {
	return parent.step(fold(word(b, 0)+k[0], word(b, 1)+k[1]) + fold(word(b, 2)+k[2], word(b, 3)+k[3]) +
		fold(word(b, 4)+k[4], word(b, 5)+k[5]) + fold(word(b, 6)+k[6], word(b, 7)+k[7]))
}

// step goes from one hash to the next, by what sum the products of a stripe make.
func (parent BlockHash) step(sum uint64) BlockHash {
	content := sum ^ sum<<24
	return BlockHash(5 * bits.RotateLeft64(uint64(parent)^content, 27))
}

// lengthOf tells blocks apart that are alike but for zeroes at their end, or that are one block here and two there.
func lengthOf(n int) BlockHash { return BlockHash(n-stripe) * golden }

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
