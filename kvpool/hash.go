package kvpool

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// BlockHash names the content of one full KV block together with everything before it: equal hashes mean equal
// prefixes.
type BlockHash uint64

// Hasher computes chained block hashes under a seed. The zero Hasher has seed 0 and is ready to use.
// Hashes from different seeds never meet; a deployment that shares an index shares the seed.
// Two are not to be compared.
type Hasher struct {
	_     [0]func()
	seed  uint64
	words *keys // nil stands for those of seed 0
}

var seed0 = keysOf(0)

// NewHasher returns a Hasher keyed by seed.
func NewHasher(seed uint64) Hasher { return Hasher{seed: seed, words: keysOf(seed)} }

// Seed returns what the Hasher is keyed by.
func (h Hasher) Seed() uint64 { return h.seed }

func (h Hasher) keys() *keys {
	if h.words == nil {
		return seed0
	}
	return h.words
}

// Root returns the hash that block 0 of a chain is chained to. Everything that makes equal tokens unequal in a KV cache
// is part of it: the specialist, the adapter ("" is the base model) and the tenant's salt ("" is shared).
func (h Hasher) Root(specialist, adapter, salt string) BlockHash {
	var buf [256]byte
	b := buf[:0]
	for _, part := range [...]string{specialist, adapter, salt} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part))) // lengths keep ("a","b") apart from ("ab","")
		b = append(b, part...)
	}
	return BlockHash(xxh3.HashSeed(b, h.seed))
}

// Next returns the hash of the block that holds tokens and follows parent: that of their bytes as little-endian uint32.
func (h Hasher) Next(parent BlockHash, tokens []uint32) BlockHash {
	return h.NextBytes(parent, tokenBytes(tokens))
}

// NextBytes is Next for a block of raw bytes: text chunks stand for tokens where there is no tokenizer.
func (h Hasher) NextBytes(parent BlockHash, block []byte) BlockHash {
	return h.keys().next(parent, block)
}

// Chain appends to dst the hashes of all full blocks of tokens; a last partial block has none.
func (h Hasher) Chain(dst []BlockHash, root BlockHash, tokens []uint32, blockSize int) []BlockHash {
	return h.TextChain(dst, root, tokenBytes(tokens), 4*blockSize)
}

// Digest is where a chain of an engine's own hash function stands. What is in it is that function's affair.
type Digest [32]byte

// Extend appends to chain, the hashes of a prompt's leading blocks under root, those of all full blocks of tokens,
// which come next. It has no use for a Digest.
func (h Hasher) Extend(chain []BlockHash, root BlockHash, _ *Digest, tokens []uint32, blockSize int) []BlockHash {
	if n := len(chain); n > 0 {
		root = chain[n-1]
	}
	return h.Chain(chain, root, tokens, blockSize)
}

// Named returns the hash of a block that its engine's own chained hash function calls name. Those functions know
// nothing of specialists: within, the root of the specialist alone, keeps them apart. Two names never have one hash
// within the same specialist; without the seed, names with similar hashes cannot be chosen (MurmurHash3's finalizer, a
// bijection).
func Named(within BlockHash, name uint64) BlockHash {
	h := uint64(within) ^ name
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return BlockHash(h ^ h>>33)
}

// TextChain appends to dst the hashes of all full chunks of text, chunkBytes bytes each.
func (h Hasher) TextChain(dst []BlockHash, root BlockHash, text []byte, chunkBytes int) []BlockHash {
	if chunkBytes < 1 {
		panic(fmt.Sprintf("kvpool: hashing chunks of %d bytes", chunkBytes))
	}
	return h.keys().chunks(slices.Grow(dst, len(text)/chunkBytes), root, text, chunkBytes)
}

// chunks appends the hashes of all full chunks of text to dst, which has room for them.
func (k *keys) chunks(dst []BlockHash, root BlockHash, text []byte, chunkBytes int) []BlockHash {
	if chunkBytes == stripe {
		n := len(text) / stripe
		k.chain(dst[len(dst):len(dst)+n], root, stripesOf(text))
		return dst[:len(dst)+n]
	}
	for ; len(text) >= chunkBytes; text = text[chunkBytes:] {
		root = k.next(root, text[:chunkBytes])
		dst = append(dst, root)
	}
	return dst
}

// tokenBytes views tokens as bytes without a copy. Only little-endian machines are supported; a test fails on any
// other.
func tokenBytes(tokens []uint32) []byte {
	if len(tokens) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&tokens[0])), len(tokens)*4)
}

// BlockID is a physical block's number, 0 … Total-1.
type BlockID int32
