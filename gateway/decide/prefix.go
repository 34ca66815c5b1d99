package decide

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

const (
	prefixRead = 1 << 20 // bytes of a text by whose beginning it is known
	firstMark  = 16      // bytes
	markRatio  = 4       // the next mark is 1/2^markRatio further, about
)

// nextMark is the mark behind the one at a place: every 16 bytes at first, then in steps that grow with the text, so
// that a text has 16 marks for each doubling of its length. They are the same in every text.
func nextMark(at int) int {
	if at == 0 {
		return firstMark
	}
	return at + max(firstMark, 1<<max(bits.Len(uint(at))-1-markRatio, 0))
}

// mark is a place in what a request asks, and the hash of all before it.
type mark struct {
	key uint64
	at  int // bytes of a text, or messages of a chat
}

// marksOf appends the marks within text, the first one first. It costs one pass over at most prefixRead bytes.
func marksOf(base uint64, text []byte, all []mark) []mark {
	text = text[:min(len(text), prefixRead)]
	last := 0
	for at := nextMark(0); at <= len(text); at = nextMark(at) {
		base = fold(base, xxh3.Hash(text[last:at]))
		all, last = append(all, mark{base, at}), at
	}
	return all
}

// prefix is an earlier text, as far as it is told by what stands behind its last mark.
type prefix struct {
	length int    // bytes that were read of it
	tail   uint64 // hash of what stands behind its last mark
}

func prefixOf(text []byte, last int) prefix {
	n := min(len(text), prefixRead)
	return prefix{length: n, tail: xxh3.Hash(text[last:n])}
}

// begins says whether text goes on from the earlier one, which is as text is up to its last mark, at last.
func (p prefix) begins(text []byte, last int) bool {
	if p.length < last || p.length > len(text) || p.length == len(text) && p.length < prefixRead {
		return false // the whole of it again is another conversation's first request
	}
	return xxh3.Hash(text[last:p.length]) == p.tail
}
