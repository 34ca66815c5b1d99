package tokenizers

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokens"
	"octet/gateway/wire"
	"octet/internal/poison"
	"octet/kvpool"
	"octet/routing"
	"octet/routing/events/enginehash"
	"octet/routing/index"
	"octet/routing/plugins"
)

// Tokenizers are those of all specialists. They outlive generations of the configuration.
type Tokenizers struct {
	hasher kvpool.Hasher
	ours   tokens.Hasher                         // the same
	by     atomic.Pointer[map[string]*tokenizer] // by specialist, of the configuration in force; replaced whole
	cache  atomic.Pointer[tokens.Cache]          // nil before the first Commit
	bytes  int                                   // of cache; changed by Commit alone
	checks *Checks
}

// Source says where the tokens of a specialist's prompts come from.
type Source uint8

// The sources.
const (
	None     Source = iota // nowhere: only prompts that come as token ids have tokens
	File                   // the model's own files, in the gateway
	Builtin                // the tokenizer of emulated engines
	ByEngine               // the /tokenize of the specialist's engines
)

// Spec is how one specialist's prompts become tokens.
type Spec struct {
	Specialist string
	Source     Source
	Local      *Local             // Source File
	Scheme     *enginehash.Scheme // by which its prompts are hashed; nil means our own
	Model      string             // as its engines call it
	Timeout    time.Duration      // of all engines that one prompt asks together
	CheckShare float64            // of its prompts that are compared with an engine's own tokens
	Engines    []Engine
}

// Engine is one replica's engine.
type Engine struct {
	Replica string
	Kind    engine.Kind
	Client  *openai.Client
	Host    index.HostID

	check *check // that its answers count for: none, once another replica has its name
}

// tokenizer is a specialist's.
type tokenizer struct {
	Spec
	next     atomic.Uint32         // engines are asked in turn, from a different one each time
	mute     atomic.Pointer[muted] // nil before the first failure of all engines
	sample   sampler
	as       engine.Rendering
	toolless atomic.Bool // prompts with tools are not tokenized: engines render tools otherwise
}

// mixed notes how the engines put tools into prompts, and returns true if they are of kinds that differ in it.
func (t *tokenizer) mixed() bool {
	if len(t.Engines) == 0 {
		return false
	}
	t.as = t.Engines[0].Kind.Rendering
	return slices.ContainsFunc(t.Engines, func(e Engine) bool { return e.Kind.Name != t.Engines[0].Kind.Name })
}

// New returns tokenizers of no specialist yet. Chains of blocks are hashed by h where no engine's scheme applies.
func New(h kvpool.Hasher) *Tokenizers {
	t := &Tokenizers{hasher: h, ours: h, checks: newChecks()}
	t.by.Store(&map[string]*tokenizer{})
	return t
}

// Checks returns what comparing tokens with the engines' own has shown.
func (t *Tokenizers) Checks() *Checks { return t.checks }

// Cache returns what the cache of prompts' beginnings has done; false before the first Commit.
func (t *Tokenizers) Cache() (tokens.Stats, bool) {
	if cache := t.cache.Load(); cache != nil {
		return cache.Stats(), true
	}
	return tokens.Stats{}, false
}

// LocalOf returns the files in force for a specialist; nil if there are none.
func (t *Tokenizers) LocalOf(specialist string) *Local {
	if one := (*t.by.Load())[specialist]; one != nil {
		return one.Local
	}
	return nil
}

// Edition is the tokenizers of one generation of the configuration. It knows no specialist before Commit.
type Edition struct {
	*Tokenizers
	by map[string]*tokenizer // by specialist; set before the generation's first request
}

// Edition returns an edition for the next generation.
func (t *Tokenizers) Edition() *Edition { return &Edition{Tokenizers: t} }

// Commit puts an edition in force: what all specialists use from now on, with a cache of that many bytes. Checks of
// replicas that are not named end. One call at a time.
func (t *Edition) Commit(specs []Spec, cacheBytes int) {
	by := make(map[string]*tokenizer, len(specs))
	replicas := map[string]bool{}
	for _, s := range specs {
		one := &tokenizer{Spec: s, sample: sampler{share: s.CheckShare}}
		one.toolless.Store(one.mixed())
		if s.Source == File {
			t.checks.expect(one)
		}
		for i := range s.Engines {
			replicas[s.Engines[i].Replica] = true
		}
		by[s.Specialist] = one
	}
	t.checks.keep(maps.Keys(replicas))
	if t.cache.Load() == nil || cacheBytes != t.bytes {
		t.bytes = cacheBytes
		t.cache.Store(tokens.New(cacheBytes))
	}
	t.by = by
	t.Tokenizers.by.Store(&by)
}

// texts are used again: a text is rendered, tokenized and compared within one call, and kept by copy alone.
var texts = sync.Pool{New: func() any { return new([]byte) }}

func dropText(buf *[]byte) {
	poison.Bytes(*buf)
	texts.Put(buf)
}

// Tokenize implements plugins.Tokenizer.
func (t *Edition) Tokenize(ctx context.Context, _ string, f *routing.Facts, dst []uint32) ([]uint32, error) {
	p := plugins.Prompt{Tokens: dst}
	err := t.Chain(ctx, f, plugins.Root{}, &p)
	return p.Tokens, err
}

// Chain implements plugins.Chained.
func (t *Edition) Chain(ctx context.Context, f *routing.Facts, from plugins.Root, p *plugins.Prompt) (err error) {
	one := t.by[f.Specialist]
	if one == nil || f.Images > 0 {
		return plugins.ErrNoTokenizer
	}
	given, ok := givenTokens(f, p.Tokens)
	switch {
	case ok:
		p.Tokens = given
	case one.Source == None, one.Source == File && t.checks.noneExact(one.Engines):
		return plugins.ErrNoTokenizer
	case one.Source == File:
		return t.locally(one, f, from, p)
	case one.Source == Builtin:
		buf := texts.Get().(*[]byte)
		defer dropText(buf)
		*buf = f.Text((*buf)[:0])
		p.Tokens = engine.Tokenize(p.Tokens, *buf)
	default:
		if p.Tokens, err = one.ask(ctx, f, p.Tokens); err != nil {
			return err
		}
	}
	if in := t.native(one, f); in != nil {
		p.Hashes = in.Extend(p.Hashes, from.Hash, new(kvpool.Digest), p.Tokens, from.BlockSize)
	}
	return nil
}

// native returns the hasher that hashes a prompt as its engines do; nil if our own applies. No block is found of a
// prompt whose hashing by engines is not known.
func (t *Tokenizers) native(one *tokenizer, f *routing.Facts) *enginehash.Prompt {
	if one.Scheme == nil || !one.Scheme.Knows(f.Adapter, f.Salt) {
		return nil
	}
	return &enginehash.Prompt{Scheme: one.Scheme, Within: t.hasher.Root(f.Specialist, "", ""), Adapter: f.Adapter,
		Salt: f.Salt}
}

// locally renders and tokenizes in the gateway, and has a sample of the results compared with the engines' own.
func (t *Tokenizers) locally(one *tokenizer, f *routing.Facts, from plugins.Root, p *plugins.Prompt) error {
	buf := texts.Get().(*[]byte)
	defer dropText(buf)
	r, err := one.Local.render((*buf)[:0], f, &one.as, time.Now())
	if err != nil {
		return err
	}
	*buf = r.text
	if r.tools && one.toolless.Load() {
		return plugins.ErrNoTokenizer
	}
	out := tokens.Prompt{Tokens: p.Tokens, Chain: p.Hashes}
	root := tokens.Root{Chain: from.Hash, BlockSize: from.BlockSize, Tokenizer: one.Local.id, Around: r.around}
	by := t.ours
	if in := t.native(one, f); in != nil {
		by, root.Chain = in, kvpool.Named(from.Hash, xxh3.HashString(one.Scheme.String()))
	}
	t.cache.Load().Encode(&out, one.Local.tokenizer, by, root, r.text)
	p.Tokens, p.Hashes = out.Tokens, out.Chain
	if one.sample.takes() {
		t.checks.suggest(one, f, r.tools, p.Tokens)
	}
	return nil
}

// givenTokens appends the token ids of a completion whose first prompt came as ids; false for any other request.
func givenTokens(f *routing.Facts, dst []uint32) ([]uint32, bool) {
	switch {
	case f.Kind != "completion":
		return dst, false
	case f.Prompts != nil:
		return f.Prompts.PromptTokens(0, dst)
	}
	var r wire.Request
	if wire.Parse(wire.Completion, f.Body, wire.Judged, &r) != nil {
		return dst, false
	}
	return r.PromptTokens(0, dst)
}
