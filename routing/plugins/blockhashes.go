package plugins

import (
	"context"

	"octet/routing"
)

// blockHashes writes the prompt's chain and token count: from the tokens and what
// is known of their hashes, else from text in chunks of as many bytes as a block
// of tokens is taken to have.
type blockHashes struct {
	named
	roots         roots
	bytesPerToken int
}

// newBlockHashes: bytes_per_token (default 4) is what text is taken to have where it stands for tokens.
func newBlockHashes(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return &blockHashes{
			named:         named{"block-hashes", reads(Fleet, Tokens, Hashes, Pieces, Chunks)},
			roots:         roots{hasher: d.Hasher},
			bytesPerToken: p.Int("bytes_per_token", 4, 1, 64),
		}
	}
}

// Writes implements routing.Preparer.
func (*blockHashes) Writes() []routing.AnySlot { return reads(BlockHashes, PromptTokens, Others) }

// Prepare implements routing.Preparer. It never fails; without a block size there is no chain, only the count.
func (b *blockHashes) Prepare(_ context.Context, c *routing.Context) error {
	v := c.View()
	f, size := v.Facts(), Fleet.Get(v).BlockSize()
	chain := BlockHashes.Spare(c)[:0]
	root, hasher := b.roots.of(f), b.roots.hasher
	var length int // tokens
	if Chunks.Get(v) {
		pieces := Pieces.Get(v)
		if size > 0 {
			chain = hasher.PiecesChain(chain, root, pieces, size*b.bytesPerToken)
		}
		length = b.guess(pieces)
	} else {
		tokens := Tokens.Get(v)
		if size > 0 {
			if chain = append(chain, Hashes.Get(v)...); len(chain) > 0 {
				root = chain[len(chain)-1]
			}
			chain = hasher.Chain(chain, root, tokens[len(chain)*size:], size)
		}
		length = len(tokens)
	}
	if f.Prompts != nil && f.Prompts.Prompts() > 1 {
		others := b.others(f, size, length)
		Others.Put(c, others)
		length += others.Tokens
	}
	PromptTokens.Put(c, length)
	BlockHashes.Put(c, chain)
	return nil
}
