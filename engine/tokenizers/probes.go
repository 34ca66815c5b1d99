package tokenizers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"octet/engine"
	"octet/engine/openai"
	"octet/routing"
	"octet/routing/plugins"
)

// readFile is a tool as agents offer it, with members in another order than most engines write them.
const readFile = `"tools":[{"type":"function","function":{"parameters":{"type":"object","properties":{"path":` +
	`{"type":"string","description":"relative, <no> \"..\""},"lines":{"type":"integer"}},"required":["path"]},` +
	`"name":"read_file","description":"Reads a file."}}]`

// probes are ten prompts that tokenizers and templates differ in: those of a new engine, further ones, and some with
// tools.
var probes = slices.Concat(firstPrompts[:], []routing.Facts{
	{Kind: "completion", Body: []byte(`{"prompt":"    return x<y>>(z) != 0x1F ? \"a\\\\b\" : nullptr;"}`)},
	{Kind: "chat", Body: []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"one"},` +
		`{"type":"text","text":"two"}]}]}`)},
	{Kind: "chat", Body: []byte(`{"messages":[{"role":"user","content":"List the files."}],` + readFile + `}`)},
	{Kind: "chat", Body: []byte(`{"messages":[{"role":"system","content":"Use tools."},` +
		`{"role":"user","content":"Hi"}],` + readFile + `}`)},
	{Kind: "chat", Body: []byte(`{"messages":[{"role":"user","content":"Open a.cpp."},{"role":"assistant",` +
		`"content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file",` +
		`"arguments":"{\"path\": \"a.cpp\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"int x;\n"}],` +
		readFile + `}`)},
	{Kind: "chat", Body: []byte(`{"messages":[{"role":"user","content":"é 漢字"}],"tool_choice":"none",` + readFile +
		`}`)},
})

const probesWithTools = 4 // the last of them

// Comparison is what probes came to.
type Comparison struct {
	Compared int   // probes that both sides rendered
	Words    error // the first difference in a text as it stands, without a template; nil if there is none
	Chats    error // likewise in messages without tools
	Tools    error // likewise with tools
}

// CompareBuiltin compares what the tokenizer of emulated engines makes of probes with what an engine makes of them.
// text returns the prompt of a probe, false where it is not rendered here.
func CompareBuiltin(ctx context.Context, model string, e Engine, text func(*routing.Facts) ([]byte, bool)) (Comparison,
	error) {
	return compareProbes(ctx, model, e, func(f *routing.Facts) ([]uint32, error) {
		prompt, ok := text(f)
		if !ok {
			return nil, plugins.ErrNoTokenizer
		}
		return engine.Tokenize(nil, prompt), nil
	})
}

// Compare compares what the files make of probes with what an engine makes of them. What the template does not render
// here, or the engine refuses, is left out. openai.ErrUnsupported says that the engine has no /tokenize; any other
// error that it gave no answer.
func (l *Local) Compare(ctx context.Context, model string, e Engine) (Comparison, error) {
	return compareProbes(ctx, model, e, func(f *routing.Facts) ([]uint32, error) {
		text, err := l.render(nil, f, &e.Kind.Rendering, time.Now())
		if err != nil {
			return nil, err
		}
		return l.ids(text), nil
	})
}

func compareProbes(ctx context.Context, model string, e Engine,
	ours func(*routing.Facts) ([]uint32, error)) (c Comparison, err error) {
	for i := range probes {
		ids, err := ours(&probes[i])
		if err != nil {
			continue // it stays with its engine
		}
		difference, err := compare(ctx, model, e, &probes[i], ids)
		if errors.Is(err, plugins.ErrNoTokenizer) || refusal(err) && i >= len(firstPrompts) {
			continue
		}
		if refusal(err) {
			difference, err = fmt.Errorf("it refuses what is rendered here: %w", err), nil
		}
		if err != nil {
			return c, err
		}
		c.Compared++
		first := &c.Chats
		switch {
		case i >= len(probes)-probesWithTools:
			first = &c.Tools
		case probes[i].Kind == "completion":
			first = &c.Words
		}
		if *first == nil && difference != nil {
			*first = fmt.Errorf("probe %d: %w", i+1, difference)
		}
	}
	return c, nil
}

// refusal returns true if an engine has refused a prompt as one that it does not render.
func refusal(err error) bool {
	var refused *openai.StatusError
	return errors.As(err, &refused) &&
		(refused.Status == http.StatusBadRequest || refused.Status == http.StatusUnprocessableEntity)
}
