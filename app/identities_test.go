package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// posing is an engine that says of itself what its paths hold, and answers chats by chat.
func posing(t *testing.T, paths map[string]string, chat http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := paths[r.URL.Path]
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "completions") && chat != nil:
			_, _ = io.Copy(io.Discard, r.Body)
			chat(w, r)
		case r.URL.Path == "/health":
		case known:
			fmt.Fprint(w, body)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func owned(by string, limit int) map[string]string {
	return map[string]string{"/v1/models": fmt.Sprintf(`{"data":[{"id":"debug","owned_by":%q,"max_model_len":%d}]}`, by,
		limit)}
}

// engineOf is what the admin listener shows of the only replica.
func (w *world) engineOf() (engine, says string) {
	w.T.Helper()
	var seen struct {
		Specialists []struct {
			Replicas []struct {
				Engine string
				Says   string `json:"engine_says"`
			}
		}
	}
	w.Get(w.Admin+"/admin/state", &seen)
	r := seen.Specialists[0].Replicas[0]
	return r.Engine, r.Says
}

func TestAnEngineIsFoundOutByAsking(t *testing.T) {
	for kind, paths := range map[string]map[string]string{
		"vllm": owned("vllm", 100), "sglang": owned("sglang", 100), "llamacpp": owned("llamacpp", 100),
		"openai": owned("me", 100),
	} {
		w := newWorld(t, fmt.Sprintf("specialists: [{name: debug, replicas: [{url: '%s'}]}]",
			posing(t, paths, nil).URL), nil)
		if engine, says := w.engineOf(); engine != kind || says != "" {
			t.Errorf("%s: taken for %s, says %q", kind, engine, says)
		}
	}
}

// An engine that is not there at the start is found out when it comes.
func TestAnEngineThatComesLaterIsFoundOut(t *testing.T) {
	var up atomic.Bool
	inner := posing(t, owned("sglang", 100), nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			http.Error(w, "loading", http.StatusServiceUnavailable)
			return
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	w := newWorld(t, fmt.Sprintf("fleet: {probe_interval: 20ms}\nspecialists: [{name: debug, replicas: [{url: '%s'}]}]",
		s.URL), nil)
	if engine, _ := w.engineOf(); engine != "openai" {
		t.Errorf("taken for %s before it has said anything", engine)
	}
	up.Store(true)
	eventually(t, "it is taken for what it says", func() bool { engine, _ := w.engineOf(); return engine == "sglang" })
}

// A llama.cpp that was declared as vLLM is shown, and its streams are not continued as vLLM's would be: its answer
// would begin anew.
func TestAContradictedEnginesStreamsAreNotContinued(t *testing.T) {
	var asked atomic.Int32
	breaks := func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"one\"}}]}\n\n")
		w.(http.Flusher).Flush()
		time.Sleep(50 * time.Millisecond) // real time: the event reaches the client before the connection ends
		panic(http.ErrAbortHandler)
	}
	yaml := "specialists: [{name: debug, replicas: [{url: '%s', engine: vllm}, {url: '%s', engine: vllm}]}]"
	for owner, continued := range map[string]bool{"vllm": true, "llamacpp": false} {
		asked.Store(0)
		w := newWorld(t, fmt.Sprintf(yaml, posing(t, owned(owner, 100), breaks).URL,
			posing(t, owned(owner, 100), breaks).URL), nil)
		if engine, says := w.engineOf(); engine != "vllm" || (says == "llamacpp") == continued {
			t.Errorf("%s: taken for %s, says %q", owner, engine, says)
		}
		if unsaid := w.App.Warn("debug-0"); unsaid != continued {
			t.Errorf("%s: it was logged: %v", owner, !unsaid)
		}
		_, body := w.Post("/v1/chat/completions",
			`{"model":"debug","stream":true,"messages":[{"role":"user","content":"x"}]}`)
		if s := readStream(strings.NewReader(string(body))); s.done || s.failed == nil {
			t.Errorf("%s: %s", owner, body)
		}
		if got := asked.Load() > 1; got != continued {
			t.Errorf("%s: %d engines were asked", owner, asked.Load())
		}
	}
}

func TestTheEnginesOwnContextBoundsRequests(t *testing.T) {
	chat := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusInternalServerError) }
	yaml := "specialists: [{name: debug, context: %d, replicas: [{url: '%s', engine: openai}]}]"
	for _, c := range []struct{ set, told, tokens, want int }{
		{0, 100, 99, 500}, {0, 100, 100, 400}, {200, 100, 150, 500}, {50, 100, 60, 400}, {0, 0, 40000, 400},
		{0, 50000, 40000, 500},
	} {
		w := newWorld(t, fmt.Sprintf(yaml, c.set, posing(t, owned("me", c.told), chat).URL), nil)
		resp, body := w.Post("/v1/chat/completions",
			fmt.Sprintf(`{"model":"debug","max_tokens":%d,"messages":[{"role":"user","content":"x"}]}`, c.tokens))
		if got := resp.StatusCode; (got == 400) != (c.want == 400) || got == 400 &&
			!strings.Contains(string(body), `"context_length_exceeded"`) {
			t.Errorf("%+v: %d %s", c, got, body)
		}
	}
}

// GET /v1/models says what a request may hold, where the file or an engine says it.
func TestModelsSayTheirContext(t *testing.T) {
	w := newWorld(t, fmt.Sprintf("specialists: [{name: debug, replicas: [{url: '%s'}]}]",
		posing(t, owned("vllm", 4321), nil).URL), nil)
	var list struct {
		Data []struct {
			ID  string
			Len int `json:"max_model_len"`
		}
	}
	w.Get(w.Data+"/v1/models", &list)
	if len(list.Data) != 2 || list.Data[1].Len != 4321 || list.Data[0].Len != 0 {
		t.Errorf("%+v", list)
	}
}

// Whatever an engine calls it, clients read one code, and the parameter that is too long; in a stream as well, before
// its first byte.
//
//nolint:lll // raw text that cannot be broken
func TestEnginesWordsOfAnOverflowAreOneTypedError(t *testing.T) {
	for name, said := range map[string]string{
		"vLLM":      `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`,
		"old vLLM":  `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`,
		"SGLang":    `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError","param":null,"code":400}`,
		"llama.cpp": `{"error":{"code":400,"message":"request (5000 tokens) exceeds it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`,
	} {
		for _, stream := range []bool{false, true} {
			for path, param := range map[string]string{"/v1/chat/completions": "messages",
				"/v1/completions": "prompt"} {
				s := posing(t, owned("me", 0), func(w http.ResponseWriter, r *http.Request) {
					if stream {
						w.Header().Set("Content-Type", "text/event-stream")
						fmt.Fprintf(w, "data: %s\n\n", said)
						return
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, said)
				})
				w := newWorld(t, fmt.Sprintf("specialists: [{name: debug, replicas: [{url: '%s', engine: openai}]}]",
					s.URL), nil)
				asked := map[string]string{"messages": `[{"role":"user","content":"x"}]`, "prompt": `"x"`}[param]
				resp, body := w.Post(path, fmt.Sprintf(`{"model":"debug","stream":%v,%q:%s}`, stream, param, asked))
				if resp.StatusCode != 400 ||
					!strings.Contains(string(body), `"code":"context_length_exceeded","param":"`+param+`"`) {
					t.Errorf("%s, stream %v, %s: %d %s", name, stream, path, resp.StatusCode, body)
				}
			}
		}
	}
}
