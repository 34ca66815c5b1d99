package tokens

import (
	"slices"
	"sync"

	"octet/engine/bpe"
	"octet/internal/poison"
	"octet/kvpool"
)

// Prompt is a prompt as an engine holds it: its tokens, and one hash for each full block of them.
type Prompt struct {
	Tokens []uint32
	Chain  []kvpool.BlockHash
}

// walks are used again: a walk is one Encode's, and forget drops all that it refers to.
var walks = sync.Pool{New: func() any { return new(walk) }}

// Encode adds the tokens and the chain of text, a whole rendered prompt, to p, which is empty but for its memory, and
// returns how many bytes of text were remembered. A nil Cache remembers nothing.
func (c *Cache) Encode(p *Prompt, t *bpe.Tokenizer, h Hasher, root Root, text []byte) (reused int) {
	w := walks.Get().(*walk)
	defer walks.Put(w)
	*w = walk{Prompt: p, t: t, hasher: h, root: root, text: text, passed: w.passed[:0]}
	defer w.forget()
	before, behind := t.Around()
	if root.Around {
		p.Tokens = append(p.Tokens, before...)
	}
	if c == nil || c.bytes == 0 {
		w.finish()
	} else {
		c.recall(w)
		reused = w.at
		if fresh := w.chunks(); len(fresh) > 0 {
			c.remember(w, fresh)
		}
	}
	if root.Around {
		p.Tokens = append(p.Tokens, behind...)
		w.hash()
	}
	return reused
}

// forget lets go of what w was used for.
func (w *walk) forget() {
	poison.Values(w.passed)
	*w = walk{passed: w.passed[:0]}
}

// chunks encodes what is left of the text, and returns the chunks that it is made of but for the last, which may go on.
func (w *walk) chunks() (fresh []*chunk) {
	for {
		end, next := w.cut()
		if end == 0 {
			w.finish()
			return fresh
		}
		tokens, hashes := len(w.Tokens), len(w.Chain)
		w.Tokens = w.t.Encode(w.Tokens, w.text[w.at:end], w.place)
		w.hash()
		fresh = append(fresh, &chunk{
			text: string(w.text[w.at:end]), tokens: slices.Clone(w.Tokens[tokens:]),
			hashes: slices.Clone(w.Chain[hashes:]), digest: w.digest,
		})
		w.at, w.place = end, next
	}
}

// finish encodes all that is left of the text.
func (w *walk) finish() {
	w.Tokens = w.t.Encode(w.Tokens, w.text[w.at:], w.place)
	w.hash()
}

// hash brings the chain up to the tokens.
func (w *walk) hash() {
	if w.root.BlockSize == 0 {
		return
	}
	w.Chain = w.hasher.Extend(w.Chain, w.root.Chain, &w.digest, w.Tokens[len(w.Chain)*w.root.BlockSize:],
		w.root.BlockSize)
}
