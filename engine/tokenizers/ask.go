package tokenizers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"octet/engine"
	"octet/engine/openai"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/plugins"
)

// muteFor is how many timeouts long engines that could not tokenize are not asked: their requests make do with text.
const muteFor = 10

// muted says which questions a specialist's engines are spared.
type muted struct {
	until time.Time
	from  int // bytes: shorter questions are asked still
}

func (m *muted) covers(now time.Time, question []byte) bool {
	return m != nil && len(question) >= m.from && now.Before(m.until)
}

// muteAfter returns which questions a failure makes useless; nil if the question itself may be why, as with a chat that
// the engine's template refuses. A timeout counts for questions of the same length and longer.
func muteAfter(err error, question []byte) *muted {
	var refused *openai.StatusError
	switch {
	case errors.As(err, &refused):
		if refused.Status < 500 && !errors.Is(err, openai.ErrUnsupported) {
			return nil
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, engine.ErrTimeout):
		return &muted{from: len(question)}
	case errors.Is(err, engine.ErrLocal), errors.Is(err, engine.ErrTooLarge):
		return nil
	}
	return &muted{}
}

// ask has an engine tokenize the request as it will see it, by its own chat template.
func (t *tokenizer) ask(ctx context.Context, f *routing.Facts, dst []uint32) ([]uint32, error) {
	body, err := question(t.Model, f, &t.as)
	if err != nil {
		return dst, err
	}
	now := time.Now()
	if t.mute.Load().covers(now, body) {
		return dst, plugins.ErrNoTokenizer
	}
	within, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	mute, start := &muted{}, int(t.next.Add(1))
	for i := range t.Engines {
		var ids []uint32
		if ids, err = t.Engines[(start+i)%len(t.Engines)].Client.Tokenize(within, dst, body); err == nil {
			return ids, nil
		}
		if mute = muteAfter(err, body); mute == nil || ctx.Err() != nil {
			return dst, fmt.Errorf("the engine did not tokenize: %w", err)
		}
	}
	mute.until = now.Add(muteFor * t.Timeout)
	t.mute.Store(mute)
	return dst, fmt.Errorf("no engine tokenized: %w", err)
}

// question is the body of POST /tokenize for a request: the members that decide about its prompt.
// It returns ErrNoTokenizer where an engine's /tokenize would show other tools than its chats do.
func question(model string, f *routing.Facts, as *engine.Rendering) ([]byte, error) {
	var r wire.Request
	kind, keys := wire.Chat, []string{"messages", "tools", "chat_template_kwargs", "add_generation_prompt",
		"continue_final_message"}
	if f.Kind == "completion" {
		kind, keys = wire.Completion, []string{"prompt", "add_special_tokens"}
	}
	if err := wire.Parse(kind, f.Body, wire.Judged, &r); err != nil {
		return nil, err
	}
	if r.Prompts() > 1 || r.Raw("suffix") != nil { // engines tokenize one prompt a question, and no suffix
		return nil, plugins.ErrNoTokenizer
	}
	none, only := wire.Choice(r.Raw("tool_choice"))
	if as.Chosen && only != "" && r.Tools {
		return nil, plugins.ErrNoTokenizer
	}
	body := append([]byte(`{"model":`), strconv.Quote(model)...)
	for _, key := range keys {
		if raw := r.Raw(key); raw != nil && !(as.Chosen && none && key == "tools") {
			body = append(body, `,"`+key+`":`...)
			body = append(body, raw...)
		}
	}
	return append(body, '}'), nil
}
