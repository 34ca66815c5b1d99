package plugins

import (
	"octet/kvpool"
	"octet/routing"
)

// guess is the tokens that text is taken to have.
func (b *blockHashes) guess(pieces [][]byte) int {
	length := 0
	for _, piece := range pieces {
		length += len(piece)
	}
	return (length + b.bytesPerToken - 1) / b.bytesPerToken
}

// others returns what the prompts behind the first need, whose length is first: blocks that several begin with are
// counted once. Prompts that came as text are guessed, whatever tokenizer there is: their engine may be asked for one
// prompt's tokens, not for a thousand's. One pass over all prompts, and one hash kept for each full block.
func (b *blockHashes) others(f *routing.Facts, size, first int) Rest {
	l := list{b: b, f: f, size: size, seen: map[kvpool.BlockHash]bool{}}
	n := f.Prompts.Prompts()
	l.add(0)
	l.rest = Rest{Prompts: n - 1, Longest: first}
	for i := 1; i < n; i++ {
		l.add(i)
	}
	return l.rest
}

// list adds up the prompts of a list.
type list struct {
	b     *blockHashes
	f     *routing.Facts
	size  int // tokens a block; 0 is no blocks
	seen  map[kvpool.BlockHash]bool
	ids   []uint32
	chain []kvpool.BlockHash
	rest  Rest
}

func (l *list) add(i int) {
	root := l.b.roots.of(l.f)
	var length int // tokens
	var given bool
	l.ids, given = l.f.Prompts.PromptTokens(i, l.ids[:0])
	if l.chain = l.chain[:0]; given {
		length = len(l.ids)
		if l.size > 0 {
			l.chain = l.b.roots.hasher.Chain(l.chain, root, l.ids, l.size)
		}
	} else {
		pieces := l.f.Prompts.PromptPieces(i)
		l.rest.Guessed = true
		length = l.b.guess(pieces)
		if l.size > 0 {
			l.chain = l.b.roots.hasher.PiecesChain(l.chain, root, pieces, l.size*l.b.bytesPerToken)
		}
	}
	l.rest.Tokens += length
	l.rest.Longest = max(l.rest.Longest, length)
	if l.size == 0 {
		l.rest.Tail = max(l.rest.Tail, length)
		return
	}
	full := max(length-1, 0) / l.size // an engine computes a prompt's last token anew
	l.rest.Tail = max(l.rest.Tail, length-full*l.size)
	for _, block := range l.chain[:min(full, len(l.chain))] {
		if !l.seen[block] {
			l.seen[block] = true
			l.rest.Blocks++
		}
	}
}
