package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokens"
	"octet/gateway/wire"
	"octet/internal/poison"
	"octet/kvpool"
	"octet/routing"
	"octet/routing/events/enginehash"
	"octet/routing/plugins"
)

// tokenizers turn prompts into the tokens that a specialist's engines see: by the model's own files, by our own
// tokenizer, which emulated engines share, or by the /tokenize of the specialist's own engines, asked in turn.
type tokenizers struct {
	hasher kvpool.Hasher
	ours   tokens.Hasher                         // the same
	by     atomic.Pointer[map[string]*tokenizer] // by specialist, of the configuration in force; replaced whole
	cache  atomic.Pointer[tokens.Cache]
	bytes  int // of cache; guarded by house.mu
	checks *checks
}

// tokenizer is a specialist's. Where it is neither local nor builtin nor deaf, its engines are asked.
type tokenizer struct {
	*local
	builtin  bool
	deaf     bool               // to text: prompts that come as token ids are all it knows
	scheme   *enginehash.Scheme // by which its prompts are hashed; nil is our own
	model    string
	replicas []checkedReplica // asked one after the other, from a different one each time
	next     atomic.Uint32
	timeout  time.Duration         // of all of them together
	mute     atomic.Pointer[muted] // nil before the first failure of all of them
	sample   sampler
	toolless atomic.Bool // what we make of tools is not what the engines make of them
}

func newTokenizers(h kvpool.Hasher) *tokenizers {
	t := &tokenizers{hasher: h, ours: h, checks: newChecks()}
	t.by.Store(&map[string]*tokenizer{})
	return t
}

// muteFor is how many timeouts long engines that could not tokenize are left alone: their requests make do with text.
const muteFor = 10

// muted says which questions a specialist's engines are spared.
type muted struct {
	until time.Time
	from  int // bytes: shorter questions are asked still
}

func (m *muted) covers(now time.Time, question []byte) bool {
	return m != nil && len(question) >= m.from && now.Before(m.until)
}

// silenced returns what a failure means for other questions: nil where the question itself may be why, as with a chat
// that the engine's template refuses. One that took too long speaks for those that are as long.
func silenced(err error, question []byte) *muted {
	var said *openai.StatusError
	switch {
	case errors.As(err, &said):
		if said.Status < 500 && !errors.Is(err, openai.ErrUnsupported) {
			return nil
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, engine.ErrTimeout):
		return &muted{from: len(question)}
	case errors.Is(err, engine.ErrLocal), errors.Is(err, engine.ErrTooLarge):
		return nil
	}
	return &muted{}
}

// load reads the files that cfg names, or takes them from what is in force. The fault is named by its path.
func (t *tokenizers) load(cfg *config.Config) (map[string]*local, error) {
	files, now := map[string]*local{}, *t.by.Load()
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		if !isFile(sp) {
			continue
		}
		var old *local
		if one := now[sp.Name]; one != nil {
			old = one.local
		}
		l, err := loadLocal(sp, old)
		if err != nil {
			return nil, fmt.Errorf("%w: specialists[%d].tokenizer: %w", errConfig, i, err)
		}
		files[sp.Name] = l
	}
	return files, nil
}

// edition is the tokenizers of one generation of the configuration: what its requests say goes to no engine but its
// own.
type edition struct {
	*tokenizers
	by map[string]*tokenizer // by specialist; set before the generation's first request
}

// set makes t that of cfg, which is in force from now on.
func (t *edition) set(cfg *config.Config, residents map[string]*resident, files map[string]*local, known *schemes) {
	by := make(map[string]*tokenizer, len(cfg.Specialists))
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		one := &tokenizer{local: files[sp.Name], scheme: known.of(promptHashes(sp)), model: sp.Replicas[0].Model,
			timeout: sp.TokenizerTimeout, sample: sampler{share: sp.TokenizerCheck}}
		for j := range sp.Replicas {
			r := residents[sp.Replicas[j].Name]
			one.replicas = append(one.replicas,
				checkedReplica{name: r.key.name, engine: r.key.engine, client: r.client, host: r.replica.Host})
		}
		switch kind := engineKind(sp.Replicas[0].Engine); {
		case one.local != nil:
			t.checks.expect(one)
		case sp.Tokenizer == "none":
			one.deaf = true
		case sp.Tokenizer == "builtin":
			one.builtin = true
		case !kind.TokenizesChats:
			one.deaf = true // their /tokenize knows no chat template, and they publish no events to meet
		}
		by[sp.Name] = one
	}
	t.checks.keep(maps.Keys(residents))
	if n := int(cfg.Limits.TokenizerCache); t.cache.Load() == nil || n != t.bytes {
		t.bytes = n
		t.cache.Store(tokens.New(n))
	}
	t.by = by
	t.tokenizers.by.Store(&by)
}

// texts are used again: a text is rendered, tokenized and compared within one call, and who keeps it copies it.
var texts = sync.Pool{New: func() any { return new([]byte) }}

func dropText(buf *[]byte) {
	poison.Bytes(*buf)
	texts.Put(buf)
}

// Tokenize implements plugins.Tokenizer.
func (t *edition) Tokenize(ctx context.Context, _ string, f *routing.Facts, dst []uint32) ([]uint32, error) {
	p := plugins.Prompt{Tokens: dst}
	err := t.Chain(ctx, f, plugins.Root{}, &p)
	return p.Tokens, err
}

// Chain implements plugins.Chained.
func (t *edition) Chain(ctx context.Context, f *routing.Facts, from plugins.Root, p *plugins.Prompt) (err error) {
	one := t.by[f.Specialist]
	if one == nil {
		return plugins.ErrNoTokenizer
	}
	if given, ok := givenTokens(f, p.Tokens); ok {
		p.Tokens = given
	} else if one.deaf || one.local != nil && t.checks.noneExact(one.replicas) {
		return plugins.ErrNoTokenizer
	} else if one.local != nil {
		return t.locally(one, f, from, p)
	} else if one.builtin {
		buf := texts.Get().(*[]byte)
		defer dropText(buf)
		*buf = f.Text((*buf)[:0])
		p.Tokens = engine.Tokenize(p.Tokens, *buf)
	} else if p.Tokens, err = one.ask(ctx, f, p.Tokens); err != nil {
		return err
	}
	if in := t.native(one, f); in != nil {
		p.Hashes = in.Extend(p.Hashes, from.Hash, new(kvpool.Digest), p.Tokens, from.BlockSize)
	}
	return nil
}

// native returns what hashes a prompt as its engines do; nil where our own way does. Of what nobody knows how engines
// hash it no block is found.
func (t *tokenizers) native(one *tokenizer, f *routing.Facts) *enginehash.Prompt {
	if one.scheme == nil || !one.scheme.Knows(f.Adapter, f.Salt) {
		return nil
	}
	return &enginehash.Prompt{Scheme: one.scheme, Within: t.hasher.Root(f.Specialist, "", ""), Adapter: f.Adapter,
		Salt: f.Salt}
}

// locally renders and tokenizes in the gateway, and puts a sample of what comes out before the engines.
func (t *tokenizers) locally(one *tokenizer, f *routing.Facts, from plugins.Root, p *plugins.Prompt) error {
	buf := texts.Get().(*[]byte)
	defer dropText(buf)
	r, err := one.render((*buf)[:0], f, time.Now())
	if err != nil {
		return err
	}
	*buf = r.text
	if r.tools && one.toolless.Load() {
		return plugins.ErrNoTokenizer
	}
	out := tokens.Prompt{Tokens: p.Tokens, Chain: p.Hashes}
	root := tokens.Root{Chain: from.Hash, BlockSize: from.BlockSize, Tokenizer: one.id, Around: r.around}
	by := t.ours
	if in := t.native(one, f); in != nil {
		by, root.Chain = in, kvpool.Named(from.Hash, xxh3.HashString(one.scheme.String()))
	}
	t.cache.Load().Encode(&out, one.tokenizer, by, root, r.text)
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

// ask has an engine tokenize the request as it will see it: its own chat template is its own affair.
func (t *tokenizer) ask(ctx context.Context, f *routing.Facts, dst []uint32) ([]uint32, error) {
	body, err := question(t.model, f)
	if err != nil {
		return dst, err
	}
	now := time.Now()
	if t.mute.Load().covers(now, body) {
		return dst, plugins.ErrNoTokenizer
	}
	within, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	mute, start := &muted{}, int(t.next.Add(1))
	for i := range t.replicas {
		var ids []uint32
		if ids, err = t.replicas[(start+i)%len(t.replicas)].client.Tokenize(within, dst, body); err == nil {
			return ids, nil
		}
		if mute = silenced(err, body); mute == nil || ctx.Err() != nil {
			return dst, fmt.Errorf("the engine did not tokenize: %w", err)
		}
	}
	mute.until = now.Add(muteFor * t.timeout)
	t.mute.Store(mute)
	return dst, fmt.Errorf("no engine tokenized: %w", err)
}

// question is the body of POST /tokenize for a request: what decides about its prompt.
func question(model string, f *routing.Facts) ([]byte, error) {
	var r wire.Request
	kind, keys := wire.Chat, []string{"messages", "tools", "chat_template_kwargs", "add_generation_prompt",
		"continue_final_message"}
	if f.Kind == "completion" {
		kind, keys = wire.Completion, []string{"prompt", "add_special_tokens"}
	}
	if err := wire.Parse(kind, f.Body, wire.Judged, &r); err != nil {
		return nil, err
	}
	if r.Prompts() > 1 {
		return nil, plugins.ErrNoTokenizer // engines tokenize one prompt a question
	}
	body := append([]byte(`{"model":`), strconv.Quote(model)...)
	for _, key := range keys {
		if raw := r.Raw(key); raw != nil {
			body = append(body, `,"`+key+`":`...)
			body = append(body, raw...)
		}
	}
	return append(body, '}'), nil
}
