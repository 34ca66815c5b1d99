package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/gateway/wire"
)

// slowTidy is tidy over decoded chunks: what is no strict JSON object stays as it is.
func slowTidy(events []byte, roles, usage bool, choices int) (out []any) {
	seen := map[int]bool{}
	for len(events) > 0 {
		end := eventEnd(events)
		_, data := dataOf(events[:end])
		events = events[end:]
		chunk, ok := strictObject(data)
		if !ok {
			out = append(out, string(data))
			continue
		}
		list, _ := chunk["choices"].([]any)
		ended := false
		for _, one := range list {
			choice, _ := one.(map[string]any)
			if _, stops := choice["finish_reason"].(string); stops {
				ended = true
			}
			index, _ := choice["index"].(float64)
			i := int(index)
			if choice == nil || float64(i) != index || seen[i] || i < 0 || i >= wideChoices || !roles ||
				len(seen) >= choices {
				continue
			}
			seen[i] = true
			if delta, is := choice["delta"].(map[string]any); is && delta["role"] == nil {
				delta["role"] = "assistant"
			}
		}
		out = append(out, chunk)
		if counted, is := chunk["usage"].(map[string]any); is && len(list) > 0 && ended {
			delete(chunk, "usage")
			alone := map[string]any{"choices": []any{}, "usage": counted}
			for _, name := range sharedNames {
				if v, is := chunk[name]; is {
					alone[name] = v
				}
			}
			if usage {
				out = append(out, alone)
			}
		}
	}
	return out
}

// strictObject decodes a strict JSON object.
func strictObject(data []byte) (m map[string]any, ok bool) {
	trimmed := bytes.TrimSpace(data)
	return m, wire.Valid(trimmed, chunkDepth) && json.Unmarshal(trimmed, &m) == nil && m != nil
}

// checkTidy holds tidy to slowTidy.
func checkTidy(t *testing.T, events []byte, usage bool, choices int) {
	t.Helper()
	before := bytes.Clone(events)
	one := &tidy{roles: choices > 0, usage: usage, more: choices}
	got := one.events(events)
	if !bytes.Equal(events, before) {
		t.Fatalf("the engine's bytes were changed: %q", events)
	}
	if diff := cmp.Diff(slowTidy(before, choices > 0, usage, choices), decodedPlain(got)); diff != "" {
		t.Fatalf("%q\ngave %q (-oracle +tidy):\n%s", before, got, diff)
	}
}

// decodedPlain decodes events, and changes none.
func decodedPlain(events []byte) (out []any) {
	for len(events) > 0 {
		end := eventEnd(events)
		_, data := dataOf(events[:end])
		events = events[end:]
		if chunk, ok := strictObject(data); ok {
			out = append(out, chunk)
			continue
		}
		out = append(out, string(data))
	}
	return out
}

func tidySeeds(tb testing.TB) []string {
	tb.Helper()
	recorded, err := os.ReadFile("sse/testdata/llamacpp_chat_stream.txt")
	if err != nil {
		tb.Fatal(err)
	}
	all := append(wireSeeds(), string(recorded))
	for _, choice := range []string{
		`{"delta":{},"finish_reason":"stop"}`, `{"delta":{"role":null},"index":0}`,
		`{"delta":{"content":"x","role":null},"index":1},{"delta":{"content":"y"},"index":0}`,
		`{"delta":{"role":"assistant"}},{"index":0,"delta":{"content":"b"}}`, `{"delta":null,"index":0}`,
		`{"delta":{"content":"a"},"index":-1}`,
		`{"delta":{"content":"a"},"index":255},{"delta":{"content":"a"},"index":256}`,
		`7`, ``, `{"text":"a","index":0,"finish_reason":"length"}`,
		`{"delta":{ "content" : "a" } , "finish_reason" : "stop"}`,
	} {
		chunk := `"id":"x","object":"chat.completion.chunk","created":7,"model":"m","choices":[` + choice + `]`
		all = append(all, "data: {"+chunk+"}\n\n", "data: {"+chunk+`,"usage":{"prompt_tokens":3}}`+"\n\n",
			`data: {"usage":{"prompt_tokens":3},`+chunk+"}\n\n",
			`data: { "usage" : {} , `+chunk+` }`+"\r\n\r\n", `data: {"usage":null,`+chunk+"}\n\n",
			`data: {"timings":{},"usage":{"a":1} ,`+chunk+"}\n\n")
	}
	return all
}

func FuzzTidy(f *testing.F) {
	for i, events := range tidySeeds(f) {
		f.Add([]byte(events), i%2 == 0, i%3)
	}
	f.Fuzz(func(t *testing.T, events []byte, usage bool, choices int) {
		if !bytes.HasSuffix(events, []byte("\n\n")) && !bytes.HasSuffix(events, []byte("\n\r\n")) {
			return
		}
		for rest := events; len(rest) > 0; { // whole events, of strict JSON or none
			end := eventEnd(rest)
			_, data := dataOf(rest[:end])
			if c := wire.NewCursor(data, chunkDepth); len(data) > 0 && !wire.Valid(bytes.TrimSpace(data), chunkDepth) {
				if c.Skip(); c.End() {
					return // JSON with repeated members: which of them counts is nobody's promise
				}
			}
			rest = rest[end:]
		}
		checkTidy(t, events, usage, (choices&0xff)%5)
	})
}

// A llama.cpp server's stream, as recorded, is what OpenAI's own clients understand: a role first, and the usage by
// itself.
func TestALlamaServersStreamIsTidied(t *testing.T) {
	recorded, err := os.ReadFile("sse/testdata/llamacpp_chat_stream.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		engine string
		usage  bool
		want   []string
		never  []string
	}{
		"with usage": {"llamacpp", true,
			[]string{`"delta":{"role":"assistant","content":`, `"choices":[],"usage":{"completion_tokens":6`,
				`"timings"`}, nil},
		"without": {"llamacpp", false, []string{`"delta":{"role":"assistant","content":`, `"timings"`},
			[]string{`"usage"`}},
		"vLLM is as is": {"vllm", true, []string{string(recorded)}, []string{`"role"`}},
	} {
		w := &sink{header: http.Header{}, keep: true}
		x := stage(t, w)
		x.turn.rep.Kind = kindOf(t, c.engine)
		x.req.StreamOptions.IncludeUsage = c.usage
		if err := x.play(&tape{pieces: [][]byte{bytes.Clone(recorded)}, end: io.EOF}); err != nil {
			t.Fatal(err)
		}
		out := w.body.String()
		for _, want := range c.want {
			if strings.Count(out, want) != 1 {
				t.Errorf("%s: %d times %s in\n%s", name, strings.Count(out, want), want, out)
			}
		}
		for _, never := range c.never {
			if strings.Contains(out, never) {
				t.Errorf("%s: %s in\n%s", name, never, out)
			}
		}
		if x.handedOut == 0 || x.usage.CompletionTokens != 6 || !strings.HasSuffix(out, "data: [DONE]\n\n") {
			t.Errorf("%s: %d tokens, %+v, %s", name, x.handedOut, x.usage, out)
		}
	}
}

// What took up a stream that another engine began says no second role.
func TestAStreamThatGoesOnHasItsRoleAlready(t *testing.T) {
	x := stage(t, &sink{header: http.Header{}})
	x.turn.rep.Kind, x.started = kindOf(t, "llamacpp"), true
	chunk := []byte(`data: {"choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n\n")
	if got := x.tidied().events(chunk); !bytes.Equal(got, chunk) {
		t.Errorf("%s", got)
	}
}
