package tokenizers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octet/engine/openai"
	"octet/engine/tokenizers"
)

// B5: a chat that the engine's template refuses is that chat's own affair, and so is one that takes too long; an engine
// that fails is left alone.
func TestAChatThatATemplateRefusesMutesNothing(t *testing.T) {
	var status, asked atomic.Int32
	engine := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked.Add(1)
		switch {
		case !strings.Contains(string(body), "odd"):
			_, _ = io.WriteString(rw, `{"count":3,"max_model_len":4096,"tokens":[1,2,3]}`)
		case status.Load() == 0:
			<-r.Context().Done()
		default:
			rw.WriteHeader(int(status.Load()))
		}
	}))
	defer engine.Close()
	client, err := openai.New(openai.Config{URL: engine.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		status int32
		exact  bool // the next chat is
	}{{"refused", 400, true}, {"refused as unprocessable", 422, true}, {"too long", 0, true},
		{"not offered", 404, false}, {"failed", 500, false}} {
		t.Run(c.name, func(t *testing.T) {
			timeout := "specialists[1].tokenizer_timeout=1m"
			if c.status == 0 {
				timeout = "specialists[1].tokenizer_timeout=1s"
			}
			w := newWorld(t, smallWorld, smallEngines(), "specialists[1].tokenizer=engine", timeout)
			one := w.App.Tokenizers().One("systems")
			one.Engines = []tokenizers.Engine{{Client: client}, {Client: client}}
			status.Store(c.status)
			asked.Store(0)
			long := `{"model":"systems","messages":[{"role":"user","content":"odd %s"}]}`
			w.Post("/v1/route", fmt.Sprintf(long, strings.Repeat("x", 1000)))
			if n := asked.Load(); c.exact && c.status != 0 && n != 1 {
				t.Errorf("%d engines were asked to render what a template refuses", n)
			}
			_, answer := w.Post("/v1/route", systems)
			if exact := strings.Contains(string(answer), `"exact":true`); exact != c.exact {
				t.Errorf("the next chat's tokens are exact: %v, want %v: %s", exact, c.exact, answer)
			}
		})
	}
}

func TestATokenizerThatFailsIsLeftAloneForAWhile(t *testing.T) {
	var asked atomic.Int32
	w := newWorld(t, smallWorld, smallEngines(), "specialists[1].tokenizer=engine",
		"specialists[1].tokenizer_timeout=1m")
	broken := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.WriteHeader(http.StatusInternalServerError)
	}))
	defer broken.Close()
	one := w.App.Tokenizers().One("systems")
	client, err := openai.New(openai.Config{URL: broken.URL})
	if err != nil {
		t.Fatal(err)
	}
	one.Engines = []tokenizers.Engine{{Client: client}}
	for range 5 {
		resp, answer := w.Post("/v1/chat/completions", systems)
		if resp.StatusCode != 200 {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("a broken tokenizer was asked %d times", n)
	}
	var route struct{ Prompt struct{ Exact bool } }
	_, answer := w.Post("/v1/route", systems)
	if err := json.Unmarshal(answer, &route); err != nil || route.Prompt.Exact {
		t.Errorf("%v: the prompt's length is said to be exact: %s", err, answer)
	}
}
