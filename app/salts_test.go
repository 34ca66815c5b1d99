package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octet/gateway/api"
)

// told is what POST /v1/route says of the cache for a tenant's prompt, "" being a request without a key: the largest of
// all the places where it could show.
func (w *world) told(tenant, body string) int {
	w.T.Helper()
	resp, answer := w.Post("/v1/route", body, keyOf(tenant)...)
	var e api.Explanation
	if err := json.Unmarshal(answer, &e); err != nil || resp.StatusCode != 200 {
		w.T.Fatalf("status %d, %v: %s", resp.StatusCode, err, answer)
	}
	return max(e.Predicted, e.Routing.Hit.Chosen, e.Routing.Hit.Best)
}

func keyOf(tenant string) []string {
	if tenant == "" {
		return nil
	}
	return as(tenant)
}

func (w *world) cached(tenant, body string) string {
	w.T.Helper()
	_, resp := w.answered(body, keyOf(tenant)...)
	return resp.Header.Get("X-Cached-Tokens")
}

func longPrompt(topic, more string) string {
	return fmt.Sprintf(`{"model":"debug","max_tokens":2,%s"messages":[{"role":"user","content":%q}]}`, more,
		strings.Repeat(topic+" is a secret; ", 80))
}

// C1: with a guess of another's prompt any client was told how much of it is right, 16 tokens at a time.
func TestNoTenantIsToldWhatOthersHaveAsked(t *testing.T) {
	everybody := []string{"acme", "rival", ""}
	w := newWorld(t, smallWorld, smallEngines(), twoTenants()...)
	for _, asker := range everybody {
		body := longPrompt("what "+asker+" asks", "")
		if n := w.cached(asker, body); n != "0" && n != "" {
			t.Fatalf("a new prompt of %q: %s tokens", asker, n)
		}
		eventually(t, "its own prompt to be known", func() bool { return w.told(asker, body) > 500 })
		for _, other := range everybody {
			if other == asker {
				continue
			}
			if n := w.told(other, body); n > 0 {
				t.Errorf("%q is told of %d tokens that %q has asked", other, n, asker)
			}
			guess := strings.Replace(body, `"max_tokens":2`, `"max_tokens":1`, 1)
			if n := w.cached(other, guess); n != "0" && n != "" {
				t.Errorf("%q is told in X-Cached-Tokens of %s that %q has asked", other, n, asker)
			}
		}
		if n := w.cached(asker, body); n == "0" || n == "" {
			t.Errorf("%q finds nothing of its own prompt", asker)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// The control: where the operator has it so, tenants share, and are told.
func TestTenantsShareCachesWhereTheOperatorSaysSo(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), twoTenants("auth.share_cache=true")...)
	body := longPrompt("what is shared", "")
	w.cached("acme", body)
	for _, other := range []string{"rival", ""} {
		eventually(t, "another's prompt to be known", func() bool { return w.told(other, body) > 500 })
	}
	if n := w.told("rival", longPrompt("what is shared", `"cache_salt":"own",`)); n > 0 {
		t.Errorf("a salt that a client asks for is not kept apart: %d tokens", n)
	}
}

// C2: a client said another tenant's salt and found its prompts.
func TestAClientCannotSayAnothersSalt(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), twoTenants("auth.tenants[0].cache_salt=bank")...)
	body := longPrompt("the bank's", "")
	w.cached("acme", body)
	eventually(t, "its own prompt to be known", func() bool { return w.told("acme", body) > 500 })
	saying := longPrompt("the bank's", `"cache_salt":"bank",`)
	for _, other := range []string{"rival", ""} {
		if n := w.told(other, saying); n > 0 {
			t.Errorf("%q is told of %d tokens by another's salt", other, n)
		}
	}
	own := longPrompt("one user's", `"cache_salt":"user 7",`)
	w.cached("rival", own)
	eventually(t, "the same salt of the same tenant to be known", func() bool { return w.told("rival", own) > 500 })
	for _, other := range []string{"acme", ""} {
		if n := w.told(other, own); n > 0 {
			t.Errorf("%q is told of %d tokens by a salt of its own of the same name", other, n)
		}
	}
	if n := w.told("rival", longPrompt("one user's", "")); n > 0 {
		t.Errorf("a salt within a tenant keeps nothing apart: %d tokens", n)
	}
}

// hearsSalts is an engine that notes the cache_salt of the last chat.
//
//nolint:lll // raw text that cannot be broken
func hearsSalts(t *testing.T, salt *atomic.Pointer[string]) string {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var said struct {
			Salt     *string         `json:"cache_salt"`
			Messages json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(body, &said) != nil || said.Messages == nil || r.URL.Path != "/v1/chat/completions" {
			return
		}
		salt.Store(said.Salt)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(
			w,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// An engine that keeps caches apart by a salt is sent the tenant's, the same each time; others are sent none of ours. A
// client's own word reaches no engine.
func TestSaltsGoToTheEnginesThatTakeThem(t *testing.T) {
	for kind, takes := range map[string]bool{"vllm": true, "sglang": true, "llamacpp": false, "openai": false} {
		var salt atomic.Pointer[string]
		yaml := "specialists: [{name: debug, tokenizer: none, replicas: [{url: '" + hearsSalts(t,
			&salt) + "', engine: " + kind + ", blocks: 512}]}]\n"
		w := newWorld(t, yaml, nil, twoTenants("auth.secret=a secret of twenty")...)
		heard := func(tenant, more string) string {
			w.answered(longPrompt("x", more), keyOf(tenant)...)
			if s := salt.Load(); s != nil {
				return *s
			}
			return ""
		}
		acme, rival, nobody := heard("acme", ""), heard("rival", ""), heard("", "")
		if nobody != "" || (acme != "") != takes || (rival != "") != takes || takes && acme == rival ||
			acme != heard("acme", "") {
			t.Errorf("%s is told %q, %q and %q", kind, acme, rival, nobody)
		}
		said := map[string]bool{}
		for _, tenant := range []string{"acme", "rival", ""} {
			said[heard(tenant, `"cache_salt":"mine",`)] = true
		}
		if len(said) != 3 || said["mine"] || said[""] {
			t.Errorf("%s is told %v of one word of three clients", kind, said)
		}
	}
}

// What the events of an engine tell that do not say a salt may be any tenant's: with tenants such a replica is scored
// by what was routed there, each tenant's prompts apart.
func TestEventsWithoutSaltsTellNobodyOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		sets  []string
		trust string
	}{
		"without tenants":         {nil, "exact"},
		"with tenants":            {twoTenants(), "approximate"},
		"with tenants that share": {twoTenants("auth.share_cache=true"), "exact"},
	} {
		for i := range 2 {
			c.sets = append(c.sets, fmt.Sprintf("specialists[0].replicas[%d].engine=openai", i))
		}
		w := newWorld(t, smallWorld, smallEngines(), c.sets...)
		tenant := ""
		if name != "without tenants" {
			tenant = "acme"
		}
		eventually(t, name+": the engines' first events", func() bool { // that their caches are empty
			index := w.App.Fabric().Index()
			return index.Host(w.Replica("debug-0").Host).Epoch != 0 && index.Host(w.Replica("debug-1").Host).Epoch != 0
		})
		body := longPrompt("what acme asks", "")
		w.cached(tenant, body)
		eventually(t, name+": trust", func() bool {
			var state struct {
				Replicas map[string]struct{ Trust string }
			}
			w.Get(w.Admin+"/admin/index", &state)
			return state.Replicas["debug-0"].Trust == c.trust || state.Replicas["debug-1"].Trust == c.trust
		})
		eventually(t, name+": its own prompt to be known", func() bool { return w.told(tenant, body) > 500 })
		if n := w.told("", body); tenant != "" && c.trust == "approximate" && n > 0 {
			t.Errorf("%s: %d tokens are told", name, n)
		}
	}
}
