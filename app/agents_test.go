package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octet/engine/emulator"
)

// agent is an agent's client: its bodies have the shape of those that installed agents send, with what is theirs alone.
type agent struct {
	path    string
	headers []string
	body    func(turns []any, request int) any
	// turns returns what the events of an answer add to the conversation, and how many tools it called
	turns func(t *testing.T, step int, events []map[string]any) (added []any, calls int)
}

type obj = map[string]any

// messagesAgent speaks Messages: a line for its provider that changes, the system's word between turns, reminders among
// results, and hints for a provider's cache.
var messagesAgent = agent{path: "/v1/messages?beta=true",
	headers: []string{"X-Claude-Code-Session-Id", "one", "anthropic-version", "2023-06-01", "anthropic-beta", "effort"},
	body: func(turns []any, request int) any {
		mark := obj{"type": "ephemeral"}
		return obj{"model": "octet", "max_tokens": 200, "stream": true, "thinking": obj{"type": "adaptive"},
			"output_config": obj{"effort": "high"}, "metadata": obj{"user_id": `{"session_id":"one"}`},
			"context_management": obj{"edits": []any{obj{"type": "clear_thinking_20251015", "keep": "all"}}},
			"system": []any{
				obj{"type": "text", "text": fmt.Sprintf("x-anthropic-billing-header: cch=%d;", request)},
				obj{"type": "text", "text": strings.Repeat("You repair builds. ", 40), "cache_control": mark}},
			"tools": []any{obj{"name": "read", "description": "Reads.", "input_schema": obj{"type": "object",
				"properties": obj{"path": obj{"type": "string"}}, "required": []string{"path"}}}},
			"messages": append([]any{
				obj{"role": "user", "content": []any{obj{"type": "text", "text": "<reminder>be brief</reminder>"},
					obj{"type": "text", "text": asked, "cache_control": mark}}},
				obj{"role": "system", "content": "Agents that there are: one."}}, turns...)}
	},
	turns: func(t *testing.T, step int, events []map[string]any) (added []any, calls int) {
		var blocks, results []any
		input := ""
		for _, e := range events {
			switch e["type"] {
			case "content_block_start":
				input = ""
				blocks = append(blocks, e["content_block"])
			case "content_block_delta":
				delta, last := e["delta"].(obj), blocks[len(blocks)-1].(obj)
				for member, of := range map[string]string{"text": "text", "thinking": "thinking"} {
					if piece, ok := delta[member].(string); ok {
						last[of] = last[of].(string) + piece
					}
				}
				if piece, ok := delta["partial_json"].(string); ok {
					input += piece
					last["input"] = json.RawMessage(input)
				}
			}
		}
		for _, b := range blocks {
			if use := b.(obj); use["type"] == "tool_use" {
				results = append(results, obj{"type": "tool_result", "tool_use_id": use["id"], "content": "int x;"})
			}
		}
		reminded := append(results, obj{"type": "text", "text": "<reminder>be brief</reminder> " +
			map[bool]string{true: "[[text=4 calls=2 args=2 rounds=3]]", false: "[[text=4 calls=0]]"}[step < 2]})
		added = []any{obj{"role": "assistant", "content": blocks}, obj{"role": "user", "content": reminded}}
		return added, len(results)
	},
}

// responsesAgent speaks Responses: items with ids, developers' messages, functions of a namespace, and what the client
// tells of itself.
var responsesAgent = agent{path: "/v1/responses",
	headers: []string{"session-id", "one", "originator", "an_agent"},
	body: func(turns []any, _ int) any {
		said := func(role, text string) any {
			return obj{"type": "message", "id": "msg_" + role, "role": role,
				"content": []any{obj{"type": "input_text", "text": text}}}
		}
		read := obj{"type": "function", "name": "read", "strict": false, "parameters": obj{"type": "object",
			"properties": obj{"path": obj{"type": "string"}}, "required": []string{"path"}}}
		return obj{"model": "octet", "stream": true, "store": false, "parallel_tool_calls": true, "tool_choice": "auto",
			"reasoning": obj{"summary": "auto"}, "include": []string{"reasoning.encrypted_content"},
			"prompt_cache_key": "one", "client_metadata": obj{"session_id": "one"}, "max_output_tokens": 200,
			"tools": []any{obj{"type": "namespace", "name": "files", "description": "Files.", "tools": []any{read}}},
			"input": append([]any{said("developer", strings.Repeat("You repair builds. ", 40)),
				said("user", "<environment>linux</environment>"), said("user", asked)}, turns...)}
	},
	turns: func(t *testing.T, _ int, events []map[string]any) (added []any, calls int) {
		last := events[len(events)-1]
		if last["type"] != "response.completed" {
			t.Fatalf("ends with %v", last)
		}
		for _, item := range last["response"].(obj)["output"].([]any) {
			added = append(added, item)
			if of := item.(obj); of["type"] == "function_call" {
				if of["namespace"] != "files" || of["name"] != "read" {
					t.Errorf("a call of %v in %v", of["name"], of["namespace"])
				}
				calls++
				defer func() {
					added = append(added, obj{"type": "function_call_output", "call_id": of["call_id"],
						"output": "int main();"})
				}()
			}
		}
		return added, calls
	},
}

const asked = "Why does the build fail? [[reasoning=4 text=4 calls=2 args=2 rounds=3]]"

// Agents as they are installed: each call of a tool is answered, and every further step finds what the step before left
// in the cache, at the same specialist.
func TestAgentsAsTheyAreInstalled(t *testing.T) {
	engines := smallEngines()
	for i := range engines {
		engines[i].Text = emulator.TextTools
	}
	for name, a := range map[string]agent{"Messages": messagesAgent, "Responses": responsesAgent} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, smallWorld, engines)
			var turns []any
			specialist := ""
			for step := range 4 {
				body, _ := json.Marshal(a.body(turns, step))
				resp, answer := w.Post(a.path, string(body), a.headers...)
				if resp.StatusCode != http.StatusOK {
					t.Fatalf("step %d: %d: %s", step, resp.StatusCode, answer)
				}
				if cached := resp.Header.Get("X-Cached-Tokens"); step > 0 &&
					(cached == "0" || resp.Header.Get("X-Specialist") != specialist) {
					t.Errorf("step %d: %q tokens cached at %q", step, cached, resp.Header.Get("X-Specialist"))
				}
				specialist = resp.Header.Get("X-Specialist")
				added, calls := a.turns(t, step, eventsOf(t, answer))
				if want := map[bool]int{true: 2}[step < 3]; calls != want {
					t.Fatalf("step %d: %d calls, not %d: %s", step, calls, want, answer)
				}
				turns = append(turns, added...)
				w.heard()
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// eventsOf returns the data of a stream's events.
func eventsOf(t *testing.T, stream []byte) (events []map[string]any) {
	t.Helper()
	for event := range strings.SplitSeq(strings.TrimSpace(string(stream)), "\n\n") {
		_, data, _ := strings.Cut(event, "data: ")
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, event)
		}
		events = append(events, e)
	}
	return events
}
