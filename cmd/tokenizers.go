package cmd

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/plugins"
)

// tokenizers turn prompts into the tokens that a specialist's engines see: by our own tokenizer, which emulated engines
// share, or by the /tokenize of the specialist's own engines, asked in turn.
type tokenizers struct {
	by atomic.Pointer[map[string]*tokenizer] // by specialist; replaced whole
}

type tokenizer struct {
	builtin bool
	model   string
	engines []*openai.Client // asked one after the other, from a different one each time
	next    atomic.Uint32
	timeout time.Duration // of all of them together
	mute    atomic.Int64  // unix nanoseconds until which they are not asked, after a failure
}

// muteFor is how many timeouts long engines that could not tokenize are left alone: their requests make do with text.
const muteFor = 10

// set takes the tokenizers of a new generation in.
func (t *tokenizers) set(cfg *config.Config, residents map[string]*resident) {
	by := make(map[string]*tokenizer, len(cfg.Specialists))
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		switch sp.Tokenizer {
		case "none":
			continue
		case "builtin":
			by[sp.Name] = &tokenizer{builtin: true}
		default:
			if kind := sp.Replicas[0].Engine; kind != "vllm" && kind != "sglang" {
				continue // their /tokenize knows no chat template, and they publish no events to meet
			}
			one := &tokenizer{model: sp.Replicas[0].Model, timeout: sp.TokenizerTimeout}
			for j := range sp.Replicas {
				one.engines = append(one.engines, residents[sp.Replicas[j].Name].client)
			}
			by[sp.Name] = one
		}
	}
	t.by.Store(&by)
}

var texts = sync.Pool{New: func() any { return new([]byte) }}

// Tokenize implements plugins.Tokenizer.
func (t *tokenizers) Tokenize(ctx context.Context, specialist string, f *routing.Facts, dst []uint32) ([]uint32, error) {
	one := (*t.by.Load())[specialist]
	if one == nil {
		return dst, plugins.ErrNoTokenizer
	}
	if tokens, ok := givenTokens(f, dst); ok {
		return tokens, nil
	}
	if one.builtin {
		buf := texts.Get().(*[]byte)
		defer texts.Put(buf)
		*buf = f.Text((*buf)[:0])
		return engine.Tokenize(dst, *buf), nil
	}
	return one.ask(ctx, f, dst)
}

// givenTokens appends the token ids of a completion whose prompt came as ids; false for any other request.
func givenTokens(f *routing.Facts, dst []uint32) ([]uint32, bool) {
	if f.Kind != "completion" {
		return dst, false
	}
	var r wire.Request
	if wire.Parse(wire.Completion, f.Body, wire.Limits{Messages: 1 << 20}, &r) != nil || r.Prompts() != 1 {
		return dst, false
	}
	return r.PromptTokens(0, dst)
}

// ask has an engine tokenize the request as it will see it: its own chat template is its own affair.
func (t *tokenizer) ask(ctx context.Context, f *routing.Facts, dst []uint32) ([]uint32, error) {
	now := time.Now()
	if now.UnixNano() < t.mute.Load() {
		return dst, plugins.ErrNoTokenizer
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	body, err := question(t.model, f)
	if err != nil {
		return dst, err
	}
	start := int(t.next.Add(1))
	for i := range t.engines {
		var tokens []uint32
		if tokens, err = t.engines[(start+i)%len(t.engines)].Tokenize(ctx, dst, body); err == nil {
			return tokens, nil
		}
	}
	t.mute.Store(now.Add(muteFor * t.timeout).UnixNano())
	return dst, fmt.Errorf("no engine tokenized: %w", err)
}

// question is the body of POST /tokenize for a request.
func question(model string, f *routing.Facts) ([]byte, error) {
	var r wire.Request
	kind, key := wire.Chat, "messages"
	if f.Kind == "completion" {
		kind, key = wire.Completion, "prompt"
	}
	if err := wire.Parse(kind, f.Body, wire.Limits{Messages: 1 << 20}, &r); err != nil {
		return nil, err
	}
	body := append([]byte(`{"model":`), strconv.Quote(model)...)
	body = append(body, `,"`+key+`":`...)
	body = append(body, r.Raw(key)...)
	return append(body, '}'), nil
}
