package plugins_test

import (
	"context"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/plugins"
)

// chained is a tokenizer that knows so many leading hashes of every chain.
type chained struct {
	words
	hasher kvpool.Hasher
	knows  int
}

func (t *chained) Chain(ctx context.Context, f *routing.Facts, from plugins.Root, p *plugins.Prompt) error {
	var err error
	if p.Tokens, err = t.Tokenize(ctx, f.Specialist, f, p.Tokens); err != nil {
		return err
	}
	chain := t.hasher.Chain(nil, from.Hash, p.Tokens, from.BlockSize)
	p.Hashes = append(p.Hashes, chain[:min(t.knows, len(chain))]...)
	return nil
}

// However much of a chain comes with the tokens, the chain is that of the tokens, under the request's root.
func TestHashesThatComeWithTheTokensBeginTheChain(t *testing.T) {
	w := newWorld(t, 2)
	w.deps.Hasher = kvpool.NewHasher(7)
	f := prompt("a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iii jjj kkk lll")
	f.Adapter, f.Salt = "gdb-v2", "acme"
	for knows := range 5 {
		tokenizer := &chained{hasher: w.deps.Hasher, knows: knows}
		w.deps.Tokenizer = tokenizer
		v, err := w.prepared(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := w.deps.Hasher.Chain(nil, w.deps.Hasher.Root("debug", "gdb-v2", "acme"), plugins.Tokens.Get(v), 4)
		if got := plugins.BlockHashes.Get(v); !slices.Equal(got, want) || len(want) < 3 ||
			len(plugins.Hashes.Get(v)) != min(knows, len(want)) || tokenizer.calls != 1 {
			t.Errorf("%d known: got %v, want %v, after %d calls", knows, got, want, tokenizer.calls)
		}
	}
	w.deps.Tokenizer = &chained{words: words{err: plugins.ErrNoTokenizer}}
	if v, err := w.prepared(f, nil); err != nil || !plugins.Chunks.Get(v) || plugins.Hashes.Has(v) {
		t.Errorf("%v: without a tokenizer, text stands for tokens", err)
	}
}
