package app_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// toolChat is a chat that grows by calls of tools and what they return.
type toolChat struct {
	tools    []map[string]any
	messages []map[string]any
	members  map[string]any // further ones of the body
}

func newToolChat(tools int) *toolChat {
	c := &toolChat{messages: []map[string]any{{"role": "system", "content": "You repair builds."},
		{"role": "user", "content": "Why does std::map<int, int> m{1}; not compile?"}}}
	for i := range tools {
		c.tools = append(c.tools, map[string]any{"type": "function", "function": map[string]any{
			"name": fmt.Sprint("tool_", i), "description": strings.Repeat("Reads a file, or \"part\" of it. ", 8),
			"parameters": map[string]any{"type": "object", "properties": map[string]any{
				"path": map[string]any{"type": "string", "description": "of the file <é>"}}}}})
	}
	return c
}

func (c *toolChat) body() string {
	body := map[string]any{"model": "systems", "max_tokens": 8, "messages": c.messages, "tools": c.tools}
	for name, v := range c.members {
		body[name] = v
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// turn adds what the model said with a call, and what the tool returned.
func (c *toolChat) turn(said any, i int) {
	id := fmt.Sprint("call_", i)
	c.messages = append(c.messages, map[string]any{"role": "assistant", "content": said, "tool_calls": []map[string]any{
		{"id": id, "type": "function", "function": map[string]any{"name": fmt.Sprint("tool_", i%40),
			"arguments": fmt.Sprintf(`{"path": "src/file_%d.cpp"}`, i)}}}},
		map[string]any{"role": "tool", "tool_call_id": id, "content": fmt.Sprintf("line %d: int x%d;\n\tok", i, i)})
}

// toolAnswer is what a test asks of an answer.
type toolAnswer struct {
	Choices []struct{ Message struct{ Content string } }
	Usage   struct {
		Prompt  int `json:"prompt_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// A conversation of forty tool turns is found in the cache at each of them, as far as it was said before, and what is
// predicted is what the engine delivers, within a block.
func TestAConversationOfToolTurnsHitsItsOwnPrefix(t *testing.T) {
	const turns, block = 40, 16
	template := "../engine/chattemplate/testdata/qwen25.jinja"
	for mode, sets := range map[string][]string{
		"builtin": nil, "engine": {"specialists[1].tokenizer=engine"},
		"file": {"specialists[1].tokenizer=" + bpeFile, "specialists[1].chat_template=" + template},
	} {
		t.Run(mode, func(t *testing.T) {
			engines := smallEngines()
			engines[2].Blocks = 4096
			if mode == "file" {
				engines[2].Tokenizer, engines[2].ChatTemplate = bpeFile, template
			}
			w := newWorld(t, smallWorld, engines, append(sets, "specialists[1].replicas[0].blocks=4096")...)
			c := newToolChat(40)
			before := 0
			for i := range turns {
				resp, raw := w.Post("/v1/chat/completions", c.body())
				var a toolAnswer
				if err := json.Unmarshal(raw, &a); err != nil || resp.StatusCode != 200 {
					t.Fatalf("turn %d: %d %s", i, resp.StatusCode, raw)
				}
				predicted, _ := strconv.Atoi(resp.Header.Get("X-Cached-Tokens"))
				delivered := a.Usage.Details.Cached
				if predicted > delivered+block || delivered > predicted+block || delivered < before-block {
					t.Fatalf("turn %d: predicted %d, delivered %d of %d tokens, of which %d were said before",
						i, predicted, delivered, a.Usage.Prompt, before)
				}
				if before = a.Usage.Prompt; i == 0 && before < 40*30 {
					t.Fatalf("a prompt with 40 tools has %d tokens", before)
				}
				c.turn([]any{a.Choices[0].Message.Content, nil}[i%2], i)
				eventually(t, "the index follows", func() bool {
					_, explained := w.Post("/v1/route", c.body())
					held, _ := strconv.Atoi(between(string(explained), `"predicted_cached_tokens":`, "}"))
					return held >= before-block
				})
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}
