// Package vllmhash computes the block hashes of a vLLM that runs with one of its portable schemes, as vLLM does:
//
//	H(i) = f(CBOR[ H(i-1), tokens of block i, extra keys or null ])     H(-1) = f(CBOR(PYTHONHASHSEED))
//
// Routing does not need them, as the tokens in the events tell what a block holds. They tell whether an engine is what its configuration says:
// its scheme, its seed and its block size.
package vllmhash

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/zeebo/xxh3"
)

// ErrScheme is a name of none of the schemes.
var ErrScheme = errors.New("vllmhash: no such scheme")

// The schemes. vLLM's others hash Python's pickles, which depend on its version.
const (
	SHA256CBOR = "sha256_cbor"
	XXHashCBOR = "xxhash_cbor"
)

// Scheme is a hash function with its seed. Safe for concurrent use.
type Scheme struct {
	sum  func([]byte) []byte
	mode cbor.EncMode
	none []byte
}

// New returns the scheme of that name, as with that PYTHONHASHSEED. Its error is ErrScheme.
func New(name, seed string) (*Scheme, error) {
	mode, err := cbor.CanonicalEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("vllmhash: %w", err)
	}
	s := &Scheme{mode: mode}
	switch name {
	case SHA256CBOR:
		s.sum = func(b []byte) []byte { d := sha256.Sum256(b); return d[:] }
	case XXHashCBOR:
		s.sum = func(b []byte) []byte { d := xxh3.Hash128(b).Bytes(); return d[:] }
	default:
		return nil, fmt.Errorf("%w: %q", ErrScheme, name)
	}
	s.none, err = s.of(seed)
	return s, err
}

func (s *Scheme) of(v any) ([]byte, error) {
	b, err := s.mode.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("vllmhash: %w", err)
	}
	return s.sum(b), nil
}

// Root returns what the first block of a chain is chained to.
func (s *Scheme) Root() []byte { return s.none }

// Next returns the digest of the block that holds tokens and follows parent. keys are what is part of it beside them.
func (s *Scheme) Next(parent []byte, tokens []uint32, keys []string) ([]byte, error) {
	var extra any
	if len(keys) > 0 {
		extra = keys
	}
	return s.of([]any{parent, tokens, extra})
}

// Chain returns what events call the full blocks of a prompt: the last eight bytes of each digest. The adapter is part of every block, the
// salt of the first.
func (s *Scheme) Chain(tokens []uint32, blockSize int, adapter, salt string) ([]uint64, error) {
	var keys []string
	if adapter != "" {
		keys = append(keys, adapter)
	}
	if salt != "" {
		keys = append(keys, salt)
	}
	var hashes []uint64
	digest := s.none
	for blockSize > 0 && len(tokens) >= blockSize {
		var err error
		if digest, err = s.Next(digest, tokens[:blockSize], keys); err != nil {
			return nil, err
		}
		if salt != "" && len(hashes) == 0 {
			keys = keys[:len(keys)-1]
		}
		hashes = append(hashes, binary.BigEndian.Uint64(digest[len(digest)-8:]))
		tokens = tokens[blockSize:]
	}
	return hashes, nil
}
