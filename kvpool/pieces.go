package kvpool

import (
	"fmt"
	"slices"
)

// PiecesChain is TextChain of the text that pieces are when joined. Only chunks that several pieces have a part of are
// copied.
func (h Hasher) PiecesChain(dst []BlockHash, root BlockHash, pieces [][]byte, chunkBytes int) []BlockHash {
	if chunkBytes < 1 {
		panic(fmt.Sprintf("kvpool: hashing chunks of %d bytes", chunkBytes))
	}
	k, total := h.keys(), 0
	for _, piece := range pieces {
		total += len(piece)
	}
	left := total / chunkBytes
	dst = slices.Grow(dst, left)
	text := piecewise{rest: pieces}
	for left > 0 {
		text.skipRead()
		if n := len(text.head) / chunkBytes; n > 0 {
			dst = k.chunks(dst, root, text.head, chunkBytes)
			text.head = text.head[n*chunkBytes:]
			left -= n
		} else {
			dst = append(dst, k.nextGathered(root, &text, chunkBytes))
			left--
		}
		root = dst[len(dst)-1]
	}
	return dst
}

// nextGathered is next for the next chunk of text, which may lie in several pieces.
func (k *keys) nextGathered(parent BlockHash, text *piecewise, chunkBytes int) BlockHash {
	parent += lengthOf(chunkBytes)
	for ; chunkBytes > 0; chunkBytes -= stripe {
		var b [stripe]byte
		text.read(b[:min(chunkBytes, stripe)])
		parent = k.nextStripe(parent, &b)
	}
	return parent
}

// piecewise is the unread part of a text in pieces.
type piecewise struct {
	head []byte // of the first piece
	rest [][]byte
}

// skipRead passes over pieces that are read.
func (p *piecewise) skipRead() {
	for len(p.head) == 0 {
		p.head, p.rest = p.rest[0], p.rest[1:]
	}
}

// read fills dst, for which there must be enough.
func (p *piecewise) read(dst []byte) {
	for len(dst) > 0 {
		p.skipRead()
		n := copy(dst, p.head)
		dst, p.head = dst[n:], p.head[n:]
	}
}
