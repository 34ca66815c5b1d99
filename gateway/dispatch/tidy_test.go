package dispatch

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"octet/engine/enginetest"
)

// A llama.cpp server's stream, as recorded, is what OpenAI's own clients understand: a role first, and the usage by
// itself.
//
//nolint:lll // raw text that cannot be broken
func TestALlamaServersStreamIsTidied(t *testing.T) {
	recorded, err := os.ReadFile("../sse/testdata/llamacpp_chat_stream.txt")
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
		x.turn.rep.Kind = enginetest.Kind(t, c.engine)
		x.Request.Parsed.StreamOptions.IncludeUsage = c.usage
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
		if x.Relay.Delivered() == 0 || x.Relay.Usage().CompletionTokens != 6 || !strings.HasSuffix(out, "data: [DONE]\n\n") {
			t.Errorf("%s: %d tokens, %+v, %s", name, x.Relay.Delivered(), x.Relay.Usage(), out)
		}
	}
}
