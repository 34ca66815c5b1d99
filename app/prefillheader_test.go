package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// sidecars is halves whose decoding engines have prompts computed where a header says.
var sidecars = strings.ReplaceAll(halves, "role: decode", "role: decode, prefill_header: true")

func newSidecars(t *testing.T, patience time.Duration) *world {
	engines := halvesEngines()
	for i := range engines {
		engines[i].PrefillerTimeout = patience
	}
	return newWorld(t, sidecars, engines, "limits.ttft_timeout=20s", "limits.answer_timeout=20s")
}

// prefilled returns for how many requests a named engine computed the prompt (remote), or the answering one after all
// (local).
func (w *world) prefilled(where string) (n int) {
	w.T.Helper()
	for name := range w.Engines {
		for line := range strings.Lines(w.page(w.Engines[name].URL)) {
			var k int
			if _, err := fmt.Sscanf(line,
				`octet_engine_prefiller_total{engine="0",model_name="debug",prefill="`+where+`"} %d`, &k); err == nil {
				n += k
			}
		}
	}
	return n
}

// GAIE-34, GAIE-37: the request goes to the replica that decodes, with a header that names the one that prefills; its
// engine has the prompt computed there before it decodes. The answer is that of one replica, token for token.
func TestADecodeEngineThatIsToldWhoPrefillsAsksItself(t *testing.T) {
	w := newSidecars(t, 10*time.Second)
	for i, mode := range []string{"unary", "streamed", "unary", "streamed"} {
		salt := fmt.Sprint(mode, i)
		want, _ := w.says(mode, long("alone", salt, ""))
		got, resp := w.says(mode, long("debug", salt, ""))
		if got != want || want == "" {
			t.Errorf("%q by two replicas, %q by one", got, want)
		}
		if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-0=ok" {
			t.Errorf("attempts %s", a)
		}
		if n := w.prefilled("remote"); n != i+1 || w.prefilled("local") != 0 {
			t.Errorf("%d prompts were computed elsewhere, want %d", n, i+1)
		}
	}
	w.baseline()
	p, d := w.Engines["p-0"].Stats(), w.Engines["d-0"].Stats()
	if p.PromptTokens == 0 || p.PromptTokens != d.PromptTokens {
		t.Errorf("%d prompt tokens at the prefill engine, %d at the other", p.PromptTokens, d.PromptTokens)
	}
}

// Both replicas hold a place until the first token, though one of them is never asked from here.
func TestBothReplicasHoldAPlaceForAHeader(t *testing.T) {
	w := newSidecars(t, 10*time.Second)
	w.Fault("d-0", `{"kind":"hang"}`)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
			strings.NewReader(long("debug", "held", "")))
		r.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "a place at both", func() bool {
		running := map[string]int{}
		for _, rep := range w.App.Server().Runtime().Replicas {
			if rep != nil {
				running[rep.Name] = rep.Gate.Stats().Running
			}
		}
		return running["p-0"] == 1 && running["d-0"] == 1
	})
	leave()
	<-done
	w.clearFaults("d-0")
	w.baseline()
}

// Whatever becomes of the engine that is named, the answer is whole; and what the answering engine itself does wrong is
// seen here, as ever. GAIE-37
func TestAnAnswerOutlivesThePrefillerItNames(t *testing.T) {
	const fine = "prefill:p-0=ok, decode:d-0=ok"
	for _, c := range []struct {
		replica, fault, attempts string
		remote                   int
	}{
		{"p-0", `{"kind":"die_before_headers","times":2}`, fine, 0},
		{"p-0", `{"kind":"die_after_headers"}`, fine, 0},
		{"p-0", `{"kind":"die_after_tokens"}`, fine, 0},
		{"p-0", `{"kind":"garbage"}`, fine, 0},
		{"p-0", `{"kind":"error_event"}`, fine, 0},
		{"p-0", `{"kind":"hang"}`, fine, 0},
		{"p-0", "", fine, 0}, // it is gone altogether
		{"d-0", `{"kind":"die_before_headers","times":2}`, "prefill:p-0=ok, decode:d-0=upstream_reset, decode:d-1=ok",
			1},
		{"d-0", `{"kind":"error_event"}`, "prefill:p-0=ok, decode:d-0=ok (again)", 1},
	} {
		for _, mode := range []string{"unary", "streamed"} {
			t.Run(c.replica+c.fault+mode, func(t *testing.T) {
				patience := 10 * time.Second
				if strings.Contains(c.fault, "hang") {
					patience = 100 * time.Millisecond
				}
				w := newSidecars(t, patience)
				want, _ := w.says(mode, long("alone", mode, ""))
				if c.fault == "" {
					w.Engines[c.replica].Kill()
				} else {
					w.Fault(c.replica, c.fault)
				}
				got, resp := w.says(mode, long("debug", mode, ""))
				if got != want {
					t.Errorf("%q under the fault, %q alone", got, want)
				}
				if a := attempts(w.receipt(resp)); a != c.attempts {
					t.Errorf("attempts %s, want %s", a, c.attempts)
				}
				remote := 0
				if c.fault != "" {
					remote = w.prefilled("remote")
					w.clearFaults(c.replica)
					w.baseline()
				}
				if remote != c.remote {
					t.Errorf("%d prompts computed elsewhere, want %d", remote, c.remote)
				}
			})
		}
	}
}

// A short prompt names no replica, and a client cannot name one. GAIE-34
func TestAClientCannotNameAPrefiller(t *testing.T) {
	w := newSidecars(t, 10*time.Second)
	at, err := url.Parse(w.Engines["p-1"].URL)
	if err != nil {
		t.Fatal(err)
	}
	w.says("unary", `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"short"}]}`,
		"X-Prefiller-Host-Port", at.Host)
	w.says("unary", long("alone", "x", ""), "X-Prefiller-Host-Port", at.Host)
	if n := w.prefilled("remote") + w.prefilled("local"); n != 0 || w.Engines["p-1"].Stats().PromptTokens != 0 {
		t.Errorf("%d requests named a prefiller", n)
	}
}
