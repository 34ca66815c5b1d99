package stream

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/engine"
	"octet/gateway/stream/streamtest"
	"octet/gateway/wire"
)

// slowNormalize is Normalizer over decoded chunks: what is no strict JSON object stays as it is.
func slowNormalize(events []byte, roles, usage bool, choices int) (out []any) {
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

// checkNormalize holds a Normalizer to slowNormalize.
func checkNormalize(t *testing.T, events []byte, usage bool, choices int) {
	t.Helper()
	before := bytes.Clone(events)
	one := &Normalizer{roles: choices > 0, usage: usage, more: choices}
	got := one.Events(events)
	if !bytes.Equal(events, before) {
		t.Fatalf("the engine's bytes were changed: %q", events)
	}
	if diff := cmp.Diff(slowNormalize(before, choices > 0, usage, choices), decodedPlain(got)); diff != "" {
		t.Fatalf("%q\ngave %q (-oracle +normalized):\n%s", before, got, diff)
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

func normalizeSeeds(tb testing.TB) []string {
	tb.Helper()
	recorded, err := os.ReadFile("../sse/testdata/llamacpp_chat_stream.txt")
	if err != nil {
		tb.Fatal(err)
	}
	all := append(streamtest.Seeds(), string(recorded))
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

func FuzzNormalize(f *testing.F) {
	for i, events := range normalizeSeeds(f) {
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
					return // JSON with repeated members: which of them counts is undefined
				}
			}
			rest = rest[end:]
		}
		checkNormalize(t, events, usage, (choices&0xff)%5)
	})
}

// An engine that continues a stream which another began says no second role.
func TestAStreamThatIsContinuedHasItsRoleAlready(t *testing.T) {
	kind, _ := engine.AllKinds().Named("llamacpp")
	chunk := []byte(`data: {"choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n\n")
	if got := Normalize(&wire.Request{}, wire.Chat, &kind, true, nil).Events(chunk); !bytes.Equal(got, chunk) {
		t.Errorf("%s", got)
	}
}
