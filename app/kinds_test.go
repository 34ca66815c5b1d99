package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octet/app"
	"octet/engine"
	"octet/internal/apptest"
)

// madeUp is a kind of engine that is nowhere but in this literal.
var madeUp = engine.Kind{
	Name: "made-up", Bit: 1 << 4, AdapterSuffix: true, LowFirst: true,
	Paths: engine.Paths{Health: "/acme/health"},
	Marks: engine.Marks{Owner: "acme"},
}

// acme is an engine of the kind. It sends the bodies of chats to bodies, and a word for each probe to probes.
func acme(t *testing.T, bodies chan<- string, probes chan<- struct{}) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model","owned_by":"acme"}]}`)
		case madeUp.Paths.Health:
			select {
			case probes <- struct{}{}:
			default:
			}
		case "/v1/chat/completions":
			body, _ := io.ReadAll(r.Body)
			bodies <- string(body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":`+
				`{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A further kind of engine is one literal, from the configuration that names it, or the engine that tells it, to the
// bytes that the engine is sent.
func TestAFurtherKindOfEngineIsOneLiteralToTheWholeGateway(t *testing.T) {
	bodies, probes := make(chan string, 1), make(chan struct{}, 1)
	path := filepath.Join(t.TempDir(), "octet.yaml")
	specialist := "  - {name: %s, tokenizer: none, adapters: [{name: red}], replicas: [{url: %q, engine: %s, " +
		"model: m, blocks: 64, forward_priority: true}]}\n"
	yaml := "auth: {anonymous: true}\nfleet: {probe_interval: 50ms}\nspecialists:\n" +
		fmt.Sprintf(specialist, "declared", acme(t, bodies, probes), madeUp.Name) +
		fmt.Sprintf(specialist, "found", acme(t, bodies, probes), engine.Auto)
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (app.Source{Path: path}).Load(); err == nil || !strings.Contains(err.Error(),
		`"made-up" is not one of auto, vllm, sglang, llamacpp, openai`) {
		t.Errorf("without the literal: %v", err)
	}
	source := app.Source{Path: path, Engines: slices.Concat(engine.AllKinds(), engine.Table{madeUp})}
	cfg, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, app.Options{Log: apptest.Log(t), Source: source})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	<-probes // of a path that no other kind has
	for _, model := range []string{"declared", "found"} {
		body := fmt.Sprintf(`{"model":"%s:red","user":"u","messages":[{"role":"user","content":"x"}]}`, model)
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Priority", "7")
		w := httptest.NewRecorder()
		a.Server().DataHandler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: status %d: %s", model, w.Code, w.Body)
		}
		sent := <-bodies
		for _, part := range []string{`"model":"m:red"`, `"priority":-7`, `"user":"u"`} {
			if !strings.Contains(sent, part) {
				t.Errorf("%s: the engine is sent %s, want %s", model, sent, part)
			}
		}
	}
}
