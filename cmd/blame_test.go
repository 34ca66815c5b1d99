package cmd

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octet/engine/openai"
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
			one := (*w.house.tokens.by.Load())["systems"]
			one.replicas = []checkedReplica{{client: client}, {client: client}}
			status.Store(c.status)
			asked.Store(0)
			long := `{"model":"systems","messages":[{"role":"user","content":"odd %s"}]}`
			w.post("/v1/route", fmt.Sprintf(long, strings.Repeat("x", 1000)))
			if n := asked.Load(); c.exact && c.status != 0 && n != 1 {
				t.Errorf("%d engines were asked to render what a template refuses", n)
			}
			_, answer := w.post("/v1/route", systems)
			if exact := strings.Contains(string(answer), `"exact":true`); exact != c.exact {
				t.Errorf("the next chat's tokens are exact: %v, want %v: %s", exact, c.exact, answer)
			}
		})
	}
}

// B2: an engine that obeys a parameter of the client's, and so says more than was to be expected, is not broken.
func TestAParameterOpensNoBreaker(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.fault("systems-0", `{"kind":"overrun","k":40,"times":20}`)
	for range 20 {
		_, answer := w.post("/v1/chat/completions", streamed(systems), "X-Request-Id", "one")
		if s := readStream(bytes.NewReader(answer)); !s.done || s.text != indexText("one", 12) ||
			!bytes.Contains(answer, []byte(`"finish_reason":"length"`)) {
			t.Fatalf("%+v in %s", s, answer)
		}
	}
	if rep, _ := w.house.fleet.Find("systems-0"); rep.State() != "closed" {
		t.Errorf("the breaker is %s", rep.State())
	}
	if resp, answer := w.post("/v1/chat/completions", systems); resp.StatusCode != 200 {
		t.Errorf("a bystander is answered %d: %s", resp.StatusCode, answer)
	}
}
