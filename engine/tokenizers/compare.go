package tokenizers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"octet/engine/openai"
	"octet/gateway/wire"
	"octet/routing"
)

// firstPrompts are what a new engine is asked to tokenize: prompts that tokenizers and templates differ in.
var firstPrompts = [...]routing.Facts{
	{Kind: "chat", Body: []byte(
		`{"messages":[{"role":"user","content":" Why does this not compile?\n\n\t` +
			`std::vector<int> v{1,22,333,4444};  // it's 2026, don't you'LL\n"}]}`)},
	{Kind: "chat", Body: []byte(
		`{"messages":[{"role":"user","content":"é ñ 漢字、かな 🎉 \u00a0x"},{"role":"assistant","content":"Yes. "},` +
			`{"role":"user","content":"<b>&amp;</b>  end"}]}`)},
	{Kind: "chat", Body: []byte(
		`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}`)},
	{Kind: "completion", Body: []byte(`{"prompt":"int main() {\r\n  return 0;\r\n}\n"}`)},
}

// Compare compares a healthy replica that has not been compared yet. Prompts that the template refuses are left out.
func (t *Tokenizers) Compare(ctx context.Context, specialist, replica string, log *slog.Logger) {
	one := (*t.by.Load())[specialist]
	if one == nil || one.Source != File || t.checks.Of(replica).State != Unchecked {
		return
	}
	at := slices.IndexFunc(one.Engines, func(r Engine) bool { return r.Replica == replica })
	if at < 0 {
		return
	}
	asked := one.Engines[at]
	differences, err := one.compareAll(ctx, asked)
	if errors.Is(err, openai.ErrUnsupported) {
		t.checks.unknowable(asked)
	}
	if err != nil {
		return // the next probe asks again
	}
	for _, difference := range differences {
		if t.checks.note(asked, one.Local.id, difference) {
			log.Warn("the engine tokenizes otherwise: the replica is scored approximately", "replica", replica,
				"difference", difference)
		}
	}
}

// compareAll compares all prompts that the template renders. It returns a difference for each, nil for equal tokens.
func (t *tokenizer) compareAll(ctx context.Context, r Engine) (differences []error, err error) {
	for i := range firstPrompts {
		text, err := t.Local.render(nil, &firstPrompts[i], &t.as, time.Now())
		if err != nil {
			continue
		}
		difference, err := compare(ctx, t.Model, r, &firstPrompts[i], t.Local.ids(text))
		if refusal(err) {
			difference, err = fmt.Errorf("it refuses what is rendered here: %w", err), nil
		}
		if err != nil {
			return nil, err
		}
		differences = append(differences, difference)
	}
	return differences, nil
}

// compare asks a replica for the tokens of a prompt. difference tells how they differ from ids, nil if they do not; err
// that there was no answer.
func compare(ctx context.Context, model string, r Engine, f *routing.Facts, ids []uint32) (difference,
	err error) {
	body, err := question(model, f, &r.Kind.Rendering)
	if err == nil && r.Kind.Paths.Template != "" {
		body, err = llamaQuestion(ctx, r.Client, f)
	}
	if err != nil {
		return nil, err
	}
	theirs, err := r.Client.Tokenize(ctx, nil, body)
	if err != nil {
		return nil, err
	}
	for i := range min(len(ids), len(theirs)) {
		if ids[i] != theirs[i] {
			return fmt.Errorf("token %d of %d is %d here and %d there", i, len(ids), ids[i], theirs[i]), nil
		}
	}
	if len(ids) != len(theirs) {
		return fmt.Errorf("%d tokens here and %d there", len(ids), len(theirs)), nil
	}
	return nil, nil
}

// llamaQuestion is the question to a llama.cpp server, which renders a chat and tokenizes a text in two steps.
func llamaQuestion(ctx context.Context, c *openai.Client, f *routing.Facts) ([]byte, error) {
	var r wire.Request
	kind := wire.Chat
	if f.Kind == "completion" {
		kind = wire.Completion
	}
	if err := wire.Parse(kind, f.Body, wire.Judged, &r); err != nil {
		return nil, err
	}
	if kind == wire.Completion {
		text, _ := r.PromptText(0)
		return openai.ContentQuestion(string(text)), nil
	}
	text, err := c.ApplyTemplate(ctx, f.Body)
	return openai.ContentQuestion(text), err
}
