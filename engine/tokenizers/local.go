package tokenizers

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/engine"
	"octet/engine/bpe"
	"octet/engine/chattemplate"
	"octet/gateway/wire"
	"octet/internal/files"
	"octet/routing"
	"octet/routing/plugins"
)

// Local renders and tokenizes a specialist's prompts in the gateway, by the model's own files.
type Local struct {
	files     [2]files.Stamp // the files' state when they were read
	id        uint64         // unique in this process
	tokenizer *bpe.Tokenizer
	template  *chattemplate.Template
}

var lastLocal atomic.Uint64 // id given

// Load reads a tokenizer.json and its chat template, which is looked for beside it if template is empty. It returns old
// if that was read from the same files. The error names the file.
func Load(tokenizer, template string, old *Local) (*Local, error) {
	stamps := [2]files.Stamp{files.StampOf(tokenizer), files.StampOf(template)}
	if old != nil && old.files == stamps {
		return old, nil
	}
	t, err := bpe.Load(tokenizer)
	if err != nil {
		return nil, err
	}
	l, err := chattemplate.Load(tokenizer, template)
	if err == nil && l.Plain {
		t, err = t.Plain()
	}
	if err != nil {
		return nil, err
	}
	return &Local{stamps, lastLocal.Add(1), t, l.Template}, nil
}

// rendered is a prompt's text.
type rendered struct {
	text   []byte
	around bool // the tokenizer's own ids stand before and behind it: it is no rendered chat
	tools  bool // it holds tools
}

// engineOnly are the members of a request by which its engine changes the prompt in ways that are not rendered here.
var engineOnly = [...]string{"chat_template", "continue_final_message", "documents", "mm_processor_kwargs", "echo",
	"suffix"}

// render writes the prompt of f to dst. It returns ErrNoTokenizer for a request that only its engine can render.
func (l *Local) render(dst []byte, f *routing.Facts, as *engine.Rendering, now time.Time) (rendered, error) {
	if f.Kind != "completion" && f.Member != nil {
		return l.chat(dst, f.Member, as, now)
	}
	r := parsedRequests.Get().(*wire.Request)
	defer func() { r.Reset(); parsedRequests.Put(r) }()
	if f.Kind != "completion" {
		if err := wire.Parse(wire.Chat, f.Body, wire.Judged, r); err != nil {
			return rendered{}, err
		}
		return l.chat(dst, r.Raw, as, now)
	}
	if err := wire.Parse(wire.Completion, f.Body, wire.Judged, r); err != nil {
		return rendered{}, err
	}
	return completion(dst, r)
}

// parsedRequests are used again: a rendering copies what it takes from a parsed request.
var parsedRequests = sync.Pool{New: func() any { return new(wire.Request) }}

// renderable returns true if a request, whose top-level members member returns, asks for nothing that only its engine
// can do to the prompt.
func renderable(member func(string) []byte) bool {
	return !slices.ContainsFunc(engineOnly[:], func(key string) bool {
		raw := string(member(key))
		return raw != "" && raw != "null" && raw != "false"
	})
}

// chat renders the prompt of a chat as engines of a kind do.
func (l *Local) chat(dst []byte, member func(string) []byte, as *engine.Rendering, now time.Time) (rendered, error) {
	if !renderable(member) {
		return rendered{}, plugins.ErrNoTokenizer
	}
	tools, form := given(member, "tools"), chattemplate.ToolForm{Function: as.Function, Others: as.Others}
	if as.Chosen {
		var none bool
		if none, form.Only = wire.Choice(member("tool_choice")); none {
			tools = nil
		}
	}
	text, err := l.template.Render(dst, chattemplate.Chat{
		Messages: member("messages"), Tools: tools, Form: form, Extra: given(member, "chat_template_kwargs"),
		Open: string(member("add_generation_prompt")) != "false", Now: now,
	})
	return rendered{text: text, tools: tools != nil}, err
}

// completion renders the prompt of a completion, of which there must be one.
func completion(dst []byte, r *wire.Request) (rendered, error) {
	if r.Prompts() != 1 || !renderable(r.Raw) {
		return rendered{}, plugins.ErrNoTokenizer
	}
	text, ok := r.PromptText(0)
	if !ok {
		return rendered{}, plugins.ErrNoTokenizer
	}
	return rendered{text: append(dst, text...), around: string(r.Raw("add_special_tokens")) != "false"}, nil
}

// given returns a member of a request; nil if it is missing, null or an empty list.
func given(member func(string) []byte, key string) []byte {
	switch raw := member(key); string(raw) {
	case "", "null", "[]":
		return nil
	default:
		return raw
	}
}

// ids returns the tokens of a rendered prompt, without any cache.
func (l *Local) ids(r rendered) []uint32 {
	before, behind := l.tokenizer.Around()
	if !r.around {
		before, behind = nil, nil
	}
	return append(l.tokenizer.Encode(slices.Clone(before), r.text, bpe.Start), behind...)
}
