package emulator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/engine/emulator"
)

// learnedConfig is a fast engine with a small learned tokenizer.
func learnedConfig() emulator.Config {
	c := fast()
	c.Text, c.Tokenizer = "", "../bpe/testdata/octet.json"
	c.Blocks, c.MaxModelLen = 1024, 2048
	return c
}

// ids asks for the tokens of a prompt or messages.
func (r *rig) ids(body string) (ids []uint32) {
	r.t.Helper()
	status, answer := r.ask("/tokenize", "", body)
	var out struct{ Tokens []uint32 }
	if err := json.Unmarshal([]byte(answer), &out); err != nil || status != 200 {
		r.t.Fatalf("%s: status %d, %v: %s", body, status, err, answer)
	}
	return out.Tokens
}

// A learned tokenizer's ids are what a request is computed as: they have a way back, and their number is in the usage.
func TestALearnedTongueIsTheEnginesOwn(t *testing.T) {
	r := start(t, learnedConfig())
	const messages = `"messages":[{"role":"user","content":"Why? It's 2026.\n\n\tint n;"}]`
	ids := r.ids(`{` + messages + `}`)
	text, err := json.Marshal(map[string]any{"tokens": ids})
	if err != nil {
		t.Fatal(err)
	}
	status, back := r.ask("/detokenize", "", string(text))
	var said struct{ Prompt string }
	if err := json.Unmarshal([]byte(back), &said); err != nil || status != 200 {
		t.Fatalf("status %d, %v: %s", status, err, back)
	}
	if want := "<|im_start|>user\nWhy? It's 2026.\n\n\tint n;<|im_end|>\n<|im_start|>assistant\n"; said.Prompt != want {
		t.Errorf("got %q, want %q", said.Prompt, want)
	}
	if closed := r.ids(`{` + messages + `,"add_generation_prompt":false}`); len(closed) >= len(ids) {
		t.Errorf("%d tokens without the opening of an answer, %d with it", len(closed), len(ids))
	}
	answer := r.whole("/v1/chat/completions", "a", `{`+messages+`}`)
	if answer.Usage.PromptTokens != len(ids) {
		t.Errorf("%d tokens are computed, %d are told", answer.Usage.PromptTokens, len(ids))
	}
	if status, _ := r.ask("/detokenize", "", `{"tokens":[4000000]}`); status != 400 {
		t.Errorf("status %d for an id that is none", status)
	}
}

// An answer that comes back as part of a prompt has the tokens that it was generated as: its blocks are found in the
// cache.
func TestALearnedAnswerIsFoundInTheCache(t *testing.T) {
	r := start(t, learnedConfig())
	user := `{"role":"user","content":"` + strings.Repeat("Explain lock-free queues. ", 30) + `"}`
	first := r.whole("/v1/chat/completions", "a", `{"messages":[`+user+`]}`)
	said, err := json.Marshal(first.Choices[0].Message.Content)
	if err != nil {
		t.Fatal(err)
	}
	second := r.whole("/v1/chat/completions", "b",
		fmt.Sprintf(`{"messages":[%s,{"role":"assistant","content":%s},{"role":"user","content":"And then?"}]}`, user,
			said))
	all := first.Usage.PromptTokens + first.Usage.CompletionTokens
	if cached := second.Usage.Details.CachedTokens; cached < all-16 || cached > all {
		t.Errorf("%d of %d tokens of the first turn were cached", cached, all)
	}
}

// What an answer said is not said again by the engine that goes on with it.
func TestALearnedAnswerIsContinued(t *testing.T) {
	r := start(t, learnedConfig())
	const prompt = "Why does my arena leak?\n"
	whole := r.whole("/v1/completions", "a", fmt.Sprintf(`{"prompt":%q,"max_tokens":30}`, prompt))
	begun := r.whole("/v1/completions", "a", fmt.Sprintf(`{"prompt":%q,"max_tokens":12}`, prompt))
	text := prompt + begun.Choices[0].Text
	from := len(r.ids(fmt.Sprintf(`{"prompt":%q}`, text))) - len(r.ids(fmt.Sprintf(`{"prompt":%q}`, prompt)))
	rest := r.whole("/v1/completions", "a", fmt.Sprintf(`{"prompt":%q,"max_tokens":18,"continue_from":%d}`, text, from))
	if got := begun.Choices[0].Text + rest.Choices[0].Text; got != whole.Choices[0].Text {
		t.Errorf("got %q, want %q", got, whole.Choices[0].Text)
	}
}

func TestATemplatesRefusalIsTheRequests(t *testing.T) {
	c := learnedConfig()
	c.ChatTemplate = "../chattemplate/testdata/gemma.jinja"
	r := start(t, c)
	for _, path := range []string{"/v1/chat/completions", "/tokenize"} {
		if status, answer := r.ask(path, "", `{"messages":[{"role":"system","content":"x"}]}`); status != 400 ||
			!strings.Contains(answer, "System role not supported") {
			t.Errorf("%s: status %d: %s", path, status, answer)
		}
	}
}

func TestBadTonguesAreConfigFaults(t *testing.T) {
	for name, change := range map[string]func(*emulator.Config){
		"no file":      func(c *emulator.Config) { c.Tokenizer = "testdata/none.json" },
		"no tokenizer": func(c *emulator.Config) { c.Tokenizer = "../../config/schema.json" },
		"no template":  func(c *emulator.Config) { c.ChatTemplate = "none.jinja" },
		"a template alone": func(c *emulator.Config) {
			c.Tokenizer, c.ChatTemplate = "",
				"../bpe/testdata/chat_template.jinja"
		},
		"texts of its own tokens": func(c *emulator.Config) { c.Text = emulator.TextIndex },
	} {
		c := learnedConfig()
		change(&c)
		if _, err := emulator.New(c); !errors.Is(err, emulator.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
