package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// accountant is an engine that tells what an answer took where it is asked to, as OpenAI's own does: the chunks before
// the last then say that their usage is null.
type accountant struct {
	url     string
	refuses bool // to be asked
	asked   atomic.Int64
	last    atomic.Pointer[string] // the stream_options that came
}

func account(t *testing.T, refuses bool) *accountant {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &accountant{url: "http://" + l.Addr().String(), refuses: refuses}
	server := &http.Server{Handler: e}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return e
}

// ServeHTTP implements http.Handler.
func (e *accountant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
		return
	}
	e.asked.Add(1)
	var body struct {
		Options json.RawMessage `json:"stream_options"`
		Max     int             `json:"max_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	options := string(body.Options)
	e.last.Store(&options)
	if e.refuses && body.Options != nil || body.Max == 99 {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"object":"error","message":{"detail":[{"loc":["body","x"],"msg":"extra"}]}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	null, usage := "", strings.Contains(options, `"include_usage":true`)
	if usage {
		null = `,"usage":null`
	}
	const head = `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[`
	for i := range 5 {
		finish := "null"
		if i == 4 {
			finish = `"stop"`
		}
		_, _ = fmt.Fprintf(w, head+`{"index":0,"delta":{"role":"assistant","content":"w%d "},"finish_reason":%s}]%s}`+
			"\n\n", i, finish, null)
	}
	if usage {
		_, _ = io.WriteString(w, head+`],"usage":{"prompt_tokens":70,"completion_tokens":9,"total_tokens":79,`+
			`"prompt_tokens_details":{"cached_tokens":33}}}`+"\n\n")
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// accounted is a specialist on one replica of a kind of engine.
func accounted(t *testing.T, kind string, e *accountant) *world {
	return newWorld(t, fmt.Sprintf("auth: {anonymous: true}\nfleet: {probe_interval: 1h}\nspecialists:\n"+
		"  - {name: a, tokenizer: none, replicas: [{url: %q, engine: %s}]}\n", e.url, kind), nil)
}

const toAccountant = `{"model":"a","stream":true,%s"messages":[{"role":"user","content":"x"}]}`

// The gateway knows what every stream took; its client hears of it where it asked to, and else sees the stream that it
// would have had.
func TestTheGatewayIsToldTheUsageOfEveryStream(t *testing.T) {
	for _, kind := range []string{"openai", "llamacpp", "vllm", "sglang"} {
		e := account(t, false)
		w := accounted(t, kind, e)
		for options, wants := range map[string]bool{
			``: false, `"stream_options":null,`: false, `"stream_options":{"include_usage":false},`: false,
			`"stream_options":{"include_usage":true},`: true,
		} {
			resp, got := w.Post("/v1/chat/completions", fmt.Sprintf(toAccountant, options))
			if s := readStream(strings.NewReader(string(got))); !s.done || s.text != "w0 w1 w2 w3 w4 " {
				t.Fatalf("%s %s: %+v", kind, options, s)
			}
			if !strings.Contains(*e.last.Load(), `"include_usage":true`) {
				t.Errorf("%s %s: the engine was sent %s", kind, options, *e.last.Load())
			}
			chunks := chunksOf(t, string(got))
			for i, chunk := range chunks {
				usage, there := chunk["usage"]
				if there != wants || (usage != nil) != (wants && i == len(chunks)-1) {
					t.Errorf("%s %s: chunk %d has usage %v, %v", kind, options, i, usage, there)
				}
			}
			if len(chunks) != 5 && !wants || len(chunks) != 6 && wants {
				t.Errorf("%s %s: %d chunks", kind, options, len(chunks))
			}
			r := w.receiptOf(resp.Header).Result
			if r.PromptTokens != 70 || r.CachedTokens == nil || *r.CachedTokens != 33 {
				t.Errorf("%s %s: the receipt says %+v", kind, options, r)
			}
		}
	}
}

// An engine that refuses to be asked is asked again without, and never again with; one that refuses for another reason
// is asked twice until it has taken a request.
func TestAnEngineThatRefusesToTellItsUsageIsNotAsked(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		e := account(t, refuses)
		w := accounted(t, "openai", e)
		for i, want := range []struct {
			body   string
			asked  int64 // so far
			status int
		}{
			{`"max_tokens":99,`, 2, 400}, {``, 4, 200}, {``, 5, 200}, {`"max_tokens":99,`, 6, 400},
			{`"stream_options":{"include_usage":false},`, 0, 200},
		} {
			if !refuses && i > 0 {
				want.asked--
			}
			resp, got := w.Post("/v1/chat/completions", fmt.Sprintf(toAccountant, want.body))
			if i == 4 { // a client that says the member itself is answered for it
				if refuses != (resp.StatusCode == 400) {
					t.Errorf("refuses %v: %d %s", refuses, resp.StatusCode, got)
				}
				continue
			}
			if resp.StatusCode != want.status || e.asked.Load() != want.asked {
				t.Errorf("refuses %v, %d: %d after %d requests, want %d after %d: %s", refuses, i, resp.StatusCode,
					e.asked.Load(), want.status, want.asked, got)
			}
		}
	}
}

// A client that leaves has used what the engine told so far: its receipt and its tenant's rate say so.
func TestAStreamThatIsCutIsAccountedFor(t *testing.T) {
	w := newWorld(t, smallWorld, slowEngines())
	_, whole := w.Post("/v1/chat/completions", strings.Replace(streamed(systems), "{",
		`{"stream_options":{"include_usage":true},`, 1))
	prompt, _, _, _ := usageOf(t, string(whole))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	resp := w.Ask(ctx, "/v1/chat/completions", strings.Replace(streamed(systems), `"max_tokens":12`,
		`"max_tokens":200`, 1), "X-Request-Id", "cut")
	until(t, resp.Body, "⟦cut:3⟧")
	leave()
	r := w.receiptOf(resp.Header).Result
	if prompt == 0 || r.PromptTokens != prompt || r.CompletionTokens < 3 || r.Done {
		t.Errorf("the prompt has %d tokens, the receipt says %+v", prompt, r)
	}
}
