package cmd

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/config"
	"octet/engine/bpe"
	"octet/engine/chattemplate"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/plugins"
)

// local renders and tokenizes a specialist's prompts in the gateway, by the model's own files.
type local struct {
	files     [2]stamp // what they were when they were read
	id        uint64   // no two have the same
	tokenizer *bpe.Tokenizer
	template  *chattemplate.Template
}

var locals atomic.Uint64 // ids given

// isFile says whether a specialist's tokenizer is a file.
func isFile(sp *config.Specialist) bool {
	switch sp.Tokenizer {
	case "auto", "engine", "builtin", "none":
		return false
	}
	return true
}

// loadLocal reads the files that sp names, unless they are those of old. The error names the file.
func loadLocal(sp *config.Specialist, old *local) (*local, error) {
	files := [2]stamp{stampOf(sp.Tokenizer), stampOf(sp.ChatTemplate)}
	if old != nil && old.files == files {
		return old, nil
	}
	t, err := bpe.Load(sp.Tokenizer)
	if err != nil {
		return nil, err
	}
	l, err := chattemplate.Load(sp.Tokenizer, sp.ChatTemplate)
	if err == nil && l.Plain {
		t, err = t.Plain()
	}
	if err != nil {
		return nil, err
	}
	return &local{files, locals.Add(1), t, l.Template}, nil
}

// rendered is a prompt's text. around: it is no rendered chat, and has the tokenizer's ids around it; tools: it holds
// tools.
type rendered struct {
	text          []byte
	around, tools bool
}

// elsewhere are what a request may ask its engine to do to the prompt, and that is not done here.
var elsewhere = [...]string{"chat_template", "continue_final_message", "documents", "mm_processor_kwargs", "echo",
	"suffix"}

// render writes the prompt of f to dst. ErrNoTokenizer for a request that only its engine can render.
func (l *local) render(dst []byte, f *routing.Facts, now time.Time) (rendered, error) {
	if f.Kind != "completion" && f.Member != nil {
		return l.chat(dst, f.Member, now)
	}
	r := parsedRequests.Get().(*wire.Request)
	defer func() { r.Reset(); parsedRequests.Put(r) }()
	if f.Kind != "completion" {
		if err := wire.Parse(wire.Chat, f.Body, wire.Judged, r); err != nil {
			return rendered{}, err
		}
		return l.chat(dst, r.Raw, now)
	}
	if err := wire.Parse(wire.Completion, f.Body, wire.Judged, r); err != nil {
		return rendered{}, err
	}
	return completion(dst, r)
}

// parsedRequests are used again: a parsed request is one rendering's, which copies what it takes from it.
var parsedRequests = sync.Pool{New: func() any { return new(wire.Request) }}

// ours says whether a request, of which member returns top-level members, leaves its prompt to be made here.
func ours(member func(string) []byte) bool {
	return !slices.ContainsFunc(elsewhere[:], func(key string) bool {
		raw := string(member(key))
		return raw != "" && raw != "null" && raw != "false"
	})
}

// chat is the prompt of a chat.
func (l *local) chat(dst []byte, member func(string) []byte, now time.Time) (rendered, error) {
	if !ours(member) {
		return rendered{}, plugins.ErrNoTokenizer
	}
	tools := given(member, "tools")
	text, err := l.template.Render(dst, chattemplate.Chat{
		Messages: member("messages"), Tools: tools, Extra: given(member, "chat_template_kwargs"),
		Open: string(member("add_generation_prompt")) != "false", Now: now,
	})
	return rendered{text: text, tools: tools != nil}, err
}

// completion is the prompt of a completion, of which there must be one.
func completion(dst []byte, r *wire.Request) (rendered, error) {
	if r.Prompts() != 1 || !ours(r.Raw) {
		return rendered{}, plugins.ErrNoTokenizer
	}
	text, ok := r.PromptText(0)
	if !ok {
		return rendered{}, plugins.ErrNoTokenizer
	}
	return rendered{text: append(dst, text...), around: string(r.Raw("add_special_tokens")) != "false"}, nil
}

// given is a member of a request; nil where it is missing, null or an empty list.
func given(member func(string) []byte, key string) []byte {
	switch raw := member(key); string(raw) {
	case "", "null", "[]":
		return nil
	default:
		return raw
	}
}

// ids are the tokens of a rendered prompt, without any cache.
func (l *local) ids(r rendered) []uint32 {
	before, behind := l.tokenizer.Around()
	if !r.around {
		before, behind = nil, nil
	}
	return append(l.tokenizer.Encode(slices.Clone(before), r.text, bpe.Start), behind...)
}
