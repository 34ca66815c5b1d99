package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// loop is talk with the result of a tool behind it.
func loop(result string, turns ...string) string {
	var body map[string]any
	if err := json.Unmarshal([]byte(talk(turns...)), &body); err != nil {
		panic(err)
	}
	body["messages"] = append(body["messages"].([]any),
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": "c",
			"type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}}}},
		map[string]any{"role": "tool", "tool_call_id": "c", "content": result})
	body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "f"}}}
	text, _ := json.Marshal(body)
	return string(text)
}

const far = "a question that is long enough to be read alone, whatever was said before it in here: unsure "

// While the last message is what a tool returned, the specialist does not change, be another by far the better one. The
// user's next message may change it, and what is declared always does.
func TestAToolLoopIsOneConversation(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.margin=0",
		"router.stickiness.per_1k_tokens=0")
	steps := func(what string, rows ...[3]string) {
		t.Helper()
		for i, row := range rows {
			headers := []string{"X-Session-Id", what}
			if row[2] != "" {
				headers = append(headers, "X-Intent", row[2])
			}
			resp, answer := w.Post("/v1/chat/completions", row[0], headers...)
			if got := resp.Header.Get("X-Specialist"); resp.StatusCode != 200 || got != row[1] {
				t.Errorf("%s, step %d: %d from %q, want %q: %s", what, i, resp.StatusCode, got, row[1], answer)
			}
		}
	}
	steps("a session", [3]string{talk(far + "0.20"), "debug", "debug"}, [3]string{loop("one", far+"0.20"), "debug", ""},
		[3]string{loop("two", far+"0.20", "so", far+"0.10"), "debug", ""},
		[3]string{talk(far+"0.20", "so", far+"0.20"), "systems", ""},
		[3]string{loop("1", far+"0.20"), "debug", "debug"})
	begun := func(text string) string {
		return strings.Replace(talk(text), `{`, `{"tools":[{"type":"function"}],`, 1)
	}
	steps("two loops in a session", [3]string{begun(far + "0.90"), "debug", ""},
		[3]string{begun(far + "0.20"), "systems", ""}, [3]string{loop("unsure 0.10", far+"0.90"), "debug", ""},
		[3]string{loop("unsure 0.95", far+"0.20"), "systems", ""},
		[3]string{loop("unsure 0.15", far+"0.90"), "debug", ""})
}

// A gateway that does not know the conversation classifies a loop by what began it.
func TestALoopIsClassifiedByWhatBeganIt(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.conversations=0")
	for _, result := range []string{"unsure 0.10", "unsure 0.90 " + far + far} {
		for begun, want := range map[string]string{"why? 0.90 unsure 0.90": "debug", "why? unsure 0.20": "systems"} {
			if resp, _ := w.Post("/v1/chat/completions", loop(result, begun)); resp.Header.Get("X-Specialist") != want {
				t.Errorf("%q after %q went to %q", result, begun, resp.Header.Get("X-Specialist"))
			}
		}
	}
}

// A fresh specialist shares its requests with its fallback by the loop, not by the step.
func TestAToolLoopIsNotSharedOut(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), keyed("specialists[0].slo.correctness.floor=0.3")...)
	w.Key = key
	w.again("specialists[0].version=2", "specialists[0].slo.correctness.floor=0.3", "shadow.max_concurrent=0")
	if len(w.fresh()) != 1 {
		t.Fatalf("fresh: %v", w.fresh())
	}
	for i := range 8 {
		var body struct {
			Model    string           `json:"model"`
			Most     int              `json:"max_tokens"`
			Messages []map[string]any `json:"messages"`
		}
		if err := json.Unmarshal([]byte(loop("0", fmt.Sprint(far, "0.90 number ", i))), &body); err != nil {
			t.Fatal(err)
		}
		pair, first := body.Messages[1:], ""
		for body.Messages = body.Messages[:1]; len(body.Messages) < 14; body.Messages = append(body.Messages, pair...) {
			text, _ := json.Marshal(body)
			resp, answer := w.Post("/v1/chat/completions", string(text))
			got := resp.Header.Get("X-Specialist")
			if first == "" {
				first = got
			}
			if resp.StatusCode != 200 || got != first {
				t.Fatalf("%d messages: %d by %q, begun by %q: %s", len(body.Messages), resp.StatusCode, got, first,
					answer)
			}
		}
	}
}

// What an agent puts behind the results, in their turn or as the system's, neither ends a loop nor says what it is
// about.
func TestWhatIsAddedToResultsEndsNoLoop(t *testing.T) {
	const turn = `{"model":"octet","max_tokens":9,"messages":[{"role":"user","content":%q},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"},` +
		`{"type":"text","text":%q}]},{"role":"system","content":%[2]q}]}`
	for _, kept := range []string{"0", "10"} {
		w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.margin=0",
			"router.stickiness.per_1k_tokens=0", "router.stickiness.conversations="+kept)
		for begun, want := range map[string]string{"0.90": "debug", "0.20": "systems"} {
			added := far + map[string]string{"0.90": "0.10", "0.20": "0.95"}[begun]
			resp, answer := w.Post("/v1/messages", fmt.Sprintf(turn, far+begun, added), "X-Session-Id",
				"begun at "+begun)
			if got := resp.Header.Get("X-Specialist"); resp.StatusCode != 200 || got != want {
				t.Errorf("%s conversations, begun %s: %d by %q, want %q: %s", kept, begun, resp.StatusCode, got, want,
					answer)
			}
		}
	}
}
