package plugins_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// words is a tokenizer with one token a word: its length. It fails with err.
type words struct {
	err   error
	calls int
}

func (t *words) Tokenize(_ context.Context, specialist string, f *routing.Facts, dst []uint32) ([]uint32, error) {
	t.calls++
	if t.err != nil {
		return nil, t.err
	}
	for _, word := range strings.Fields(specialist + " " + string(f.Text(nil))) {
		dst = append(dst, uint32(len(word)))
	}
	return dst, nil
}

// prepared runs the preparers of the cache-aware profile and returns the reading side.
func (w *world) prepared(f routing.Facts, params map[string]any) (routing.View, error) {
	p := w.build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
		Prepare: []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes", Params: params},
			{Name: "prefix-depths"}},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "cache-affinity"}, Weight: 1}}})
	c := w.request(f)
	_, err := p.Select(context.Background(), c)
	return c.View(), err
}

// MOD3-03, MOD3-04, MOD3-28: tokens to hashes to depths, and no plugin knows another.
func TestTokensBecomeBlocksBecomeDepths(t *testing.T) {
	w := newWorld(t, 3)
	tokenizer := &words{}
	w.deps.Tokenizer, w.deps.Hasher = tokenizer, kvpool.NewHasher(7)
	f := prompt("a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh")
	f.Adapter, f.Salt = "gdb-v2", "acme"
	tokens := []uint32{5, 1, 2, 3, 4, 5, 6, 7, 8}
	chain := w.deps.Hasher.Chain(nil, w.deps.Hasher.Root("debug", "gdb-v2", "acme"), tokens, 4)
	w.holds[1], w.holds[2] = chain[:1], chain
	v, err := w.prepared(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(plugins.Tokens.Get(v), tokens) || plugins.Chunks.Get(v) || plugins.Pieces.Has(v) ||
		tokenizer.calls != 1 {
		t.Errorf("tokens %v, chunks %t, %d calls", plugins.Tokens.Get(v), plugins.Chunks.Get(v), tokenizer.calls)
	}
	if got := plugins.BlockHashes.Get(v); !slices.Equal(got, chain) || len(got) != 2 ||
		plugins.PromptTokens.Get(v) != 9 {
		t.Errorf("%d blocks of %d tokens", len(got), plugins.PromptTokens.Get(v))
	}
	if d := plugins.Depths.Get(v); d[0] != 0 || d[1] != 1 || d[2] != 2 {
		t.Errorf("depths %v", d[:3])
	}
}

func TestWithoutTokensTextChunksStandForThem(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 3) + "tail!"
	for name, setup := range map[string]func(w *world){
		"no tokenizer in the program": func(w *world) {},
		"none for this specialist":    func(w *world) { w.deps.Tokenizer = &words{err: plugins.ErrNoTokenizer} },
		"one that fails":              func(w *world) { w.deps.Tokenizer = &words{err: errors.New("engine is away")} },
		"no replica with events": func(w *world) {
			w.deps.Tokenizer = &words{}
			for h := range index.HostID(2) {
				w.put(fleet.Spec{Host: h})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			setup(w)
			v, err := w.prepared(prompt(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
			if !plugins.Chunks.Get(v) || plugins.Tokens.Has(v) || !slices.Equal(plugins.BlockHashes.Get(v), want) ||
				plugins.PromptTokens.Get(v) != 14 {
				t.Errorf("chunks %t, %d blocks, %d tokens", plugins.Chunks.Get(v), len(plugins.BlockHashes.Get(v)),
					plugins.PromptTokens.Get(v))
			}
		})
	}
	v, err := newWorld(t, 2).prepared(prompt(text), map[string]any{"bytes_per_token": 2})
	if err != nil || len(plugins.BlockHashes.Get(v)) != 6 || plugins.PromptTokens.Get(v) != 27 {
		t.Errorf("at 2 bytes a token: %d blocks, %d tokens, %v", len(plugins.BlockHashes.Get(v)),
			plugins.PromptTokens.Get(v), err)
	}
	if v, err := newWorld(t, 2).prepared(routing.Facts{}, nil); err != nil || !plugins.BlockHashes.Has(v) ||
		plugins.PromptTokens.Get(v) != 0 {
		t.Errorf("without any text: %v", err)
	}
}

func TestTokenizingEndsWithItsRequest(t *testing.T) {
	w := newWorld(t, 2)
	w.deps.Tokenizer = &words{err: context.Canceled}
	p := w.preset("cache-aware")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var failed *routing.PrepareError
	if _, err := p.Select(ctx, w.request(prompt("x"))); !errors.As(err, &failed) || failed.Plugin != "tokenize" ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// A Context that is used again brings its buffers and nothing else.
func TestBuffersAreUsedAgainWithoutWhatWasInThem(t *testing.T) {
	w := newWorld(t, 2)
	w.deps.Tokenizer = &words{}
	p := w.preset("cache-aware")
	long, short := "one two three four five six seven eight nine", "x y z"
	root := w.deps.Hasher.Root("debug", "", "")
	for range 50 {
		for _, text := range []string{long, short} {
			tokens, _ := (&words{}).Tokenize(t.Context(), "debug", &routing.Facts{Text: prompt(text).Text}, nil)
			chain := w.deps.Hasher.Chain(nil, root, tokens, 4)
			w.holds[1] = chain
			c := routing.Acquire(routing.Facts{Specialist: "debug", Text: prompt(text).Text})
			s := w.fleet.Snapshot("debug")
			plugins.Fleet.Put(c, s)
			c.Candidates(s.Hosts)
			if _, err := p.Select(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			v := c.View()
			if !slices.Equal(plugins.BlockHashes.Get(v), chain) || int(plugins.Depths.Get(v)[1]) != len(chain) ||
				plugins.Depths.Get(v)[0] != 0 {
				t.Fatalf("%q: chain %v, depths %v", text, plugins.BlockHashes.Get(v), plugins.Depths.Get(v)[:2])
			}
			c.Release()
		}
	}
}

func TestAChainLongerThanADepthCanSayIsCut(t *testing.T) {
	w := newWorld(t, 2)
	text := strings.Repeat("0123456789abcdef", 70_000)
	w.holds[0] = w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	v, err := w.prepared(prompt(text), nil)
	if err != nil || len(plugins.BlockHashes.Get(v)) != 70_000 || plugins.Depths.Get(v)[0] != 65_535 {
		t.Errorf("%d blocks, depth %d, %v", len(plugins.BlockHashes.Get(v)), plugins.Depths.Get(v)[0], err)
	}
}
