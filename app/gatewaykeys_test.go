package app_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
)

// keyedRequest is a request that streams so many tokens of an answer.
func keyedRequest(tokens int) string {
	return fmt.Sprintf(`{"model":"debug","stream":true,"max_tokens":%d,"messages":[{"role":"user","content":"x"}]}`,
		tokens)
}

// keyed asks for such an answer under a tenant's Idempotency-Key. A refusal is read, and its code returned.
func (w *world) keyed(tenantKey, key string, tokens int) (resp *http.Response, code string) {
	w.T.Helper()
	resp = w.Ask(w.T.Context(), "/v1/chat/completions", keyedRequest(tokens), "Authorization", "Bearer "+tenantKey,
		"Idempotency-Key", key)
	if resp.StatusCode == 200 {
		return resp, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return resp, fmt.Sprint(resp.StatusCode, " ", codeOf(w.T.(*testing.T), body))
}

// An Idempotency-Key that is used at one gateway is used at all, for its tenant; as at one, it is free again for the
// same body once the answer has ended.
func TestAnIdempotencyKeyHoldsAcrossGateways(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		const conflict = "409 idempotency_conflict"
		ask := func(w *world, tenantKey string, tokens int, want string) (end func()) {
			t.Helper()
			resp, code := w.keyed(tenantKey, "k", tokens)
			if code != want {
				t.Fatalf("it is %q, not %q", code, want)
			}
			return func() { _ = resp.Body.Close() }
		}
		end := ask(g.first, acmeKey, 400, "")
		ask(b, acmeKey, 400, conflict)
		ask(b, acmeKey, 4, conflict)
		ask(b, otherKey, 4, "")()
		end()
		eventually(t, "the key is free for the same body", func() bool {
			resp, code := b.keyed(acmeKey, "k", 400)
			end = func() { _ = resp.Body.Close() }
			return code == ""
		})
		ask(g.first, acmeKey, 400, conflict)
		end()
		ask(g.first, acmeKey, 4, conflict)
		for _, w := range []*world{g.first, b} {
			eventually(t, "nothing is left", w.Quiet)
			if s := g.state(w); s.Unshared != 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

// Of requests that come under one key at once at two gateways, one is generated.
func TestOneOfManyUnderAKeyIsGenerated(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		for round := range 5 {
			var mu sync.Mutex
			var all sync.WaitGroup
			var open []*http.Response
			for i := range 12 {
				all.Go(func() {
					resp, code := []*world{g.first, b}[i%2].keyed(acmeKey, fmt.Sprint("k", round), 400)
					mu.Lock()
					defer mu.Unlock()
					switch code {
					case "":
						open = append(open, resp)
					case "409 idempotency_conflict":
					default:
						t.Errorf("it is %q", code)
					}
				})
			}
			all.Wait()
			if len(open) != 1 {
				t.Errorf("round %d: %d are answered", round, len(open))
			}
			for _, resp := range open {
				_ = resp.Body.Close()
			}
		}
	})
}

// A group that has its keys apart asks no store for them.
func TestKeysMayBeEachGatewaysOwn(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		g.store = append(g.store, "gateways.keys=0s")
		b, c := g.another("gw-b"), g.another("gw-c")
		for _, w := range []*world{b, c} {
			resp, code := w.keyed(acmeKey, "k", 400)
			if code != "" {
				t.Fatal(code)
			}
			defer resp.Body.Close()
		}
	})
}
