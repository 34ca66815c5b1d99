package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/receipt"
)

// twoTenants are the settings under which acme and rival have keys of their names.
func twoTenants(sets ...string) []string {
	for i, name := range []string{"acme", "rival"} {
		sum := sha256.Sum256([]byte(name))
		at := fmt.Sprintf("auth.tenants[%d].", i)
		sets = append(sets, at+"name="+name, at+"key_sha256="+hex.EncodeToString(sum[:]))
	}
	return sets
}

func as(tenant string) []string { return []string{"Authorization", "Bearer " + tenant} }

// say gives a verdict of a kind as a tenant, and returns the status and whether it counted.
func (w *world) say(tenant, receipt, kind string, pass bool) (status int, counted bool) {
	w.T.Helper()
	var headers []string
	if tenant != "" {
		headers = as(tenant)
	}
	resp, answer := w.Post("/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":%q,"pass":%v}`, receipt, kind, pass),
		headers...)
	var said struct{ Counted bool }
	if err := json.Unmarshal(answer, &said); err != nil {
		w.T.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	return resp.StatusCode, said.Counted
}

const toDebug = `{"model":"debug","max_tokens":2,"messages":[{"role":"user","content":"x"}]}`

func (w *world) samples(specialist string) int {
	return w.App.Server().Runtime().Specialist(specialist).Board.Report().Correctness.Samples
}

// B1: seven keyless answers with eight failing verdicts each demoted a specialist for all clients.
func TestRequestsWithoutAKeyDemoteNothing(t *testing.T) {
	for _, whose := range []string{"own", "tenants"} {
		w := newWorld(t, judgedWorld, judgedEngines(), twoTenants("auth.verdicts="+whose)...)
		for range 12 {
			id, resp := w.answered(toDebug)
			if who := resp.Header.Get("X-Specialist"); who != "debug" {
				t.Fatalf("answered by %s", who)
			}
			for kind := range 8 {
				if status, _ := w.say("", id, fmt.Sprint("kind-", kind), false); status != 403 {
					t.Fatalf("%s: a verdict without a key: status %d", whose, status)
				}
			}
		}
		if n := w.samples("debug"); n != 0 {
			t.Errorf("%s: %d samples", whose, n)
		}
	}
}

// auth.verdicts and outcomes.tenants say whose verdicts count, and on whose answers.
func TestWhoseVerdictsCountIsTheOperatorsToSay(t *testing.T) {
	for _, c := range []struct {
		verdicts     string
		sets         []string
		own, another int
	}{
		{"own", nil, 200, 404},
		{"tenants", nil, 200, 200},
		{"none", nil, 403, 404},
		{"own", []string{"outcomes.tenants[0]=rival"}, 403, 404},
		{"tenants", []string{"outcomes.tenants[0]=rival"}, 403, 200},
	} {
		w := newWorld(t, judgedWorld, judgedEngines(), twoTenants(append(c.sets, "auth.verdicts="+c.verdicts)...)...)
		id, _ := w.answered(toDebug, as("acme")...)
		if status, _ := w.say("acme", id, "compile", true); status != c.own {
			t.Errorf("%s %v: on its own answer: status %d, want %d", c.verdicts, c.sets, status, c.own)
		}
		if status, _ := w.say("rival", id, "review", true); status != c.another {
			t.Errorf("%s %v: on another's: status %d, want %d", c.verdicts, c.sets, status, c.another)
		}
	}
}

// An answer is one sample, however many kinds of verdict it gets: it passes when all of them pass. The gateway's own
// kind is not for others to take.
func TestAnAnswerIsOneSample(t *testing.T) {
	w := newWorld(t, judgedWorld, judgedEngines(), twoTenants()...)
	id, _ := w.answered(toDebug, as("acme")...)
	for i, kind := range []string{"compile", "test", "review", "lint"} {
		if _, counted := w.say("acme", id, kind, i != 2); !counted {
			t.Errorf("%s was not taken", kind)
		}
	}
	var r receipt.Receipt
	w.Key = "acme"
	w.Get(w.Data+"/v1/receipts/"+id, &r)
	c := w.App.Server().Runtime().Specialist("debug").Board.Breaker()
	state := c.State(time.Now())
	if len(r.Outcomes) != 4 || state.Samples != 1 || state.Passed != 0 {
		t.Errorf("%d kinds are %d samples, of which %d passed", len(r.Outcomes), state.Samples, state.Passed)
	}
	for _, kind := range []string{"verifier", "Verifier"} {
		resp, answer := w.Post("/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":%q,"pass":false}`, id, kind))
		checkError(t, resp, answer, 400, apierr.InvalidValue, "kind")
	}
}

// Once others speak, no tenant is more than half of a window, however often it speaks.
func TestATenantsVerdictsAreHalfOfAWindowAtMost(t *testing.T) {
	w := newWorld(t, judgedWorld, judgedEngines(), twoTenants("specialists[0].slo.correctness.floor=0.4")...)
	for i := range 30 {
		if i < 10 {
			id, _ := w.answered(toDebug, as("acme")...)
			w.say("acme", id, "compile", true)
		}
		id, resp := w.answered(toDebug, as("rival")...)
		if who := resp.Header.Get("X-Specialist"); who != "debug" {
			t.Fatalf("after %d failing verdicts of one tenant %s answers", i, who)
		}
		w.say("rival", id, "compile", false)
	}
	if c := w.App.Server().Runtime().Specialist("debug").Board.Report().Correctness; c.Samples != 20 || *c.Rate != 0.5 {
		t.Errorf("%d samples, rate %v: want 20 and 0.5", c.Samples, *c.Rate)
	}
}

// A page of another site cannot have its visitor's browser spend what needs no key, nor vote.
func TestPagesOfOtherSitesAreRefusedWithoutAKey(t *testing.T) {
	w := newWorld(t, judgedWorld, judgedEngines(), twoTenants("auth.origins[0]=https://chat.example.com")...)
	host := strings.TrimPrefix(w.Data, "http://")
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"a program":             {nil, 200},
		"its own page":          {[]string{"Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"}, 200},
		"a page behind a proxy": {[]string{"Origin", "https://" + host}, 200},
		"a page that is allowed": {[]string{"Origin", "https://chat.example.com", "Sec-Fetch-Site", "cross-site"},
			200},
		"a foreign page":             {[]string{"Origin", "https://evil.example"}, 403},
		"a foreign page on the host": {[]string{"Origin", "http://127.0.0.1:1"}, 403},
		"a page without an origin":   {[]string{"Origin", "null"}, 403},
		"a browser that says so":     {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a foreign page with a key":  {append(as("acme"), "Origin", "https://evil.example"), 200},
	} {
		for _, path := range []string{"/v1/chat/completions", "/v1/route"} {
			if resp, answer := w.Post(path, toDebug, c.headers...); resp.StatusCode != c.status {
				t.Errorf("%s, %s: status %d, want %d: %s", name, path, resp.StatusCode, c.status, answer)
			}
		}
	}
}

// C6: any page could drain a replica and read the state of a gateway on its visitor's machine.
func TestTheAdminListenerBelievesNoForeignPage(t *testing.T) {
	const token = "a token of twenty bytes"
	for _, set := range []string{"admin.token=", "admin.token=" + token} {
		w := newWorld(t, judgedWorld, judgedEngines(), set, "admin.hosts[0]=ops.internal")
		open := strings.HasSuffix(set, "=")
		for _, c := range []struct {
			name, method, host string
			headers            []string
			status             int
		}{
			{"a program", "GET", "", nil, 200},
			{"localhost", "GET", "localhost:9", nil, 200},
			{"IPv6", "GET", "[::1]:9", nil, 200},
			{"a name that is configured", "GET", "OPS.internal:9", nil, 200},
			{"its own page", "POST", "localhost:9", []string{"Origin", "http://localhost:9"}, 200},
			{"a foreign page", "POST", "", []string{"Origin", "https://evil.example"}, 403},
			{"a foreign page that reads", "GET", "", []string{"Origin", "https://evil.example"}, 403},
			{"a browser that says so", "GET", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
			{"a form", "POST", "", []string{"Content-Type", "text/plain;charset=UTF-8"}, 415},
			{"a name led here", "GET", "evil.example", nil, map[bool]int{true: 403, false: 200}[open]},
			{"a page of a name led here", "POST", "evil.example:8081", []string{"Origin", "http://evil.example:8081"},
				map[bool]int{true: 403, false: 200}[open]},
		} {
			path := map[string]string{"GET": "/admin/state", "POST": "/admin/drain/debug-0"}[c.method]
			req, _ := http.NewRequest(c.method, w.Admin+path, nil)
			if req.Host = c.host; c.host == "" {
				req.Host = req.URL.Host
			}
			for i := 0; i < len(c.headers); i += 2 {
				req.Header.Set(c.headers[i], c.headers[i+1])
			}
			if !open {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("%q, %s: status %d, want %d", set, c.name, resp.StatusCode, c.status)
			}
		}
	}
}
