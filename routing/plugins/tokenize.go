package plugins

import (
	"context"
	"errors"

	"octet/routing"
)

// Tokenizer turns prompts into the tokens that a specialist's engines see. Safe for concurrent use.
type Tokenizer interface {
	// Tokenize appends the rendered prompt's tokens to dst. ErrNoTokenizer when the specialist has none.
	Tokenize(ctx context.Context, specialist string, f *routing.Facts, dst []uint32) ([]uint32, error)
}

// ErrNoTokenizer is a specialist without a tokenizer: text chunks stand for token blocks.
var ErrNoTokenizer = errors.New("plugins: no tokenizer")

// tokenize writes Tokens, or Text and Chunks where tokens are not to be had or not worth their price: without a tokenizer,
// where it fails, and where no replica publishes cache events, since then only our own chains meet.
type tokenize struct {
	named
	tokenizer Tokenizer // nil: text for all
}

func newTokenize(d Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return tokenize{named{"tokenize", reads(Fleet)}, d.Tokenizer}
	}
}

// Writes implements routing.Preparer.
func (tokenize) Writes() []routing.AnySlot { return reads(Tokens, Text, Chunks) }

// Prepare implements routing.Preparer. It fails only when ctx ends.
func (t tokenize) Prepare(ctx context.Context, c *routing.Context) error {
	facts := c.View().Facts()
	if t.tokenizer != nil && !Fleet.Get(c.View()).Events().Empty() {
		tokens, err := t.tokenizer.Tokenize(ctx, facts.Specialist, facts, Tokens.Spare(c)[:0])
		if err == nil {
			Tokens.Put(c, tokens)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	var text []byte
	if facts.Text != nil {
		text = facts.Text(Text.Spare(c)[:0])
	}
	Text.Put(c, text)
	Chunks.Put(c, true)
	return nil
}
