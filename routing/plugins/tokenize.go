package plugins

import (
	"context"
	"errors"

	"octet/kvpool"
	"octet/routing"
)

// Tokenizer turns prompts into the tokens that a specialist's engines see. Safe for concurrent use.
type Tokenizer interface {
	// Tokenize appends the rendered prompt's tokens to dst. ErrNoTokenizer when the specialist has none.
	Tokenize(ctx context.Context, specialist string, f *routing.Facts, dst []uint32) ([]uint32, error)
}

// Chained is a Tokenizer that has the beginning of a prompt's chain at hand with its tokens.
type Chained interface {
	// Chain adds the tokens of f's prompt, and the hashes of as many of its leading blocks as it has, to p, which is
	// empty but for its memory. ErrNoTokenizer when the specialist has none.
	Chain(ctx context.Context, f *routing.Facts, from Root, p *Prompt) error
}

// Root is what a prompt's chain hangs on.
type Root struct {
	Hash      kvpool.BlockHash
	BlockSize int // tokens; 0 is no chain
}

// Prompt is a prompt's tokens and the hashes of its leading blocks.
type Prompt struct {
	Tokens []uint32
	Hashes []kvpool.BlockHash
}

// ErrNoTokenizer is a specialist without a tokenizer: text chunks stand for token blocks.
var ErrNoTokenizer = errors.New("plugins: no tokenizer")

// tokenize writes Tokens and what is known of their Hashes, of the first prompt where there are several, or Pieces and
// Chunks where tokens are not to be had or not worth their price; a prompt that comes as token ids has its tokens
// always: without a tokenizer, where it fails, and where no replica publishes cache events, since then only our own
// chains meet.
type tokenize struct {
	named
	tokenizer Tokenizer // nil: text for all
	roots     roots
}

func newTokenize(d Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return &tokenize{named{"tokenize", reads(Fleet)}, d.Tokenizer, roots{hasher: d.Hasher}}
	}
}

// Writes implements routing.Preparer.
func (*tokenize) Writes() []routing.AnySlot { return reads(Tokens, Hashes, Pieces, Chunks) }

// Prepare implements routing.Preparer. It fails only when ctx ends.
func (t *tokenize) Prepare(ctx context.Context, c *routing.Context) error {
	facts := c.View().Facts()
	if t.tokenizer != nil && (facts.Count || !Fleet.Get(c.View()).Events().Empty()) {
		if t.exactly(ctx, c, facts) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if given(c, facts) {
		return nil
	}
	var pieces [][]byte
	if facts.Pieces != nil {
		pieces = facts.Pieces()
	}
	Pieces.Put(c, pieces)
	Chunks.Put(c, true)
	return nil
}

// given writes the tokens of a prompt that came as token ids; false for any other.
func given(c *routing.Context, f *routing.Facts) bool {
	if f.Prompts == nil {
		return false
	}
	tokens, ok := f.Prompts.PromptTokens(0, Tokens.Spare(c)[:0])
	if ok {
		Tokens.Put(c, tokens)
	}
	return ok
}

// exactly writes the tokens, and their hashes as far as they come with them; false when there are none.
func (t *tokenize) exactly(ctx context.Context, c *routing.Context, f *routing.Facts) bool {
	p := Prompt{Tokens.Spare(c)[:0], Hashes.Spare(c)[:0]}
	var err error
	if chained, ok := t.tokenizer.(Chained); ok {
		err = chained.Chain(ctx, f, Root{t.roots.of(f), Fleet.Get(c.View()).BlockSize()}, &p)
	} else {
		p.Tokens, err = t.tokenizer.Tokenize(ctx, f.Specialist, f, p.Tokens)
	}
	if err != nil {
		return false
	}
	Tokens.Put(c, p.Tokens)
	Hashes.Put(c, p.Hashes)
	return true
}
