package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/config"
	"octet/engine/emulator"
	"octet/gateway/receipt"
)

// keyPair is a gateway that speaks TLS, with a tenant of two keys, and a request of it that is under way.
type keyPair struct {
	*secured
	t      *testing.T
	copies string // the file of comparisons
	answer *http.Response
}

func newKeyPair(t *testing.T) *keyPair {
	p := &keyPair{t: t, copies: filepath.Join(t.TempDir(), "copies.jsonl")}
	engines := smallEngines()
	for i := range engines {
		engines[i].Step = 10 * time.Millisecond // a slow answer takes ten times as long
	}
	p.secured = securedBefore(t, engines, "auth.anonymous=false", "auth.tenants[0].name=team",
		"auth.tenants[0].keys[0].sha256="+shaOf("old"), "auth.tenants[0].keys[1].sha256="+shaOf("new"),
		"auth.tenants[0].budget.tokens_per_day=100000", "shadow.file="+p.copies, "shadow.stream=",
		"router.detectors=false", "limits.idle_timeout=1m", "limits.ttft_timeout=1m", "limits.retry_budget=1")
	return p
}

// again asks once more, for a path or, with a body, for an answer.
func (p *keyPair) again(key, body string) (*http.Response, []byte) {
	p.t.Helper()
	method, path := "GET", "/v1/models"
	if body != "" {
		method, path = "POST", "/v1/chat/completions"
	}
	return p.as(key, method, path, body)
}

func (p *keyPair) as(key, method, path, body string) (*http.Response, []byte) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.Data+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := p.client["HTTP/1.1"].Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := wholeOf(p.t, resp)
	if err != nil {
		p.t.Error(err)
	}
	return resp, []byte(text)
}

// begin asks for an answer by the old key, and waits until an engine is at it.
func (p *keyPair) begin(engine, fault, body string, headers ...string) {
	p.t.Helper()
	p.Fault(engine, fault)
	p.answer = p.post("HTTP/2.0", "/v1/chat/completions", body, append(headers, "Authorization", "Bearer old")...)
	eventually(p.t, engine+" is at it", func() bool { return p.Engines[engine].Stats().Running == 1 })
}

func (p *keyPair) apply(change func(tenant *config.Tenant)) {
	p.t.Helper()
	next := *p.App.Config()
	next.Auth.Tenants = slices.Clone(next.Auth.Tenants)
	next.Auth.Tenants[0].Keys = slices.Clone(next.Auth.Tenants[0].Keys)
	change(&next.Auth.Tenants[0])
	if err := p.App.Apply(p.t.Context(), &next); err != nil {
		p.t.Fatal(err)
	}
}

// keySurfaces are what a tenant has under way, and how it goes on: each is an answer of forty tokens.
var keySurfaces = []struct {
	name  string
	begin func(p *keyPair)
	goOn  func(p *keyPair)
	again int // continuations
}{
	{name: "a stream", goOn: func(*keyPair) {},
		begin: func(p *keyPair) {
			p.begin("debug-0", `{"kind":"slow","times":1}`, continuable["/v1/chat/completions"])
		}},
	{name: "a stream whose engine dies", again: 1,
		goOn: func(p *keyPair) {
			p.Engines["debug-0"].Kill()
			delete(p.Engines, "debug-0") // what a dead engine has is no matter
		},
		begin: func(p *keyPair) {
			p.begin("debug-0", fmt.Sprintf(`{"kind":%q,"k":5,"times":1}`, emulator.HangAfterTokens),
				continuable["/v1/chat/completions"])
		}},
	{name: "a shadow", goOn: func(p *keyPair) {
		eventually(p.t, "the copy is compared", func() bool {
			compared, _, _ := recordsOf(p.t, p.copies)
			return len(compared) > 0
		})
	}, begin: func(p *keyPair) {
		doubting(p.t, p.App)
		p.begin("systems-0", `{"kind":"slow","times":1}`, asking("unsure 0.80", true), "X-Intent", "review")
	}},
}

// keyEvents are what happens meanwhile, and what the old key, the new one, and an answer by the new one are then.
var keyEvents = []struct {
	name   string
	strike func(p *keyPair)
	want   [3]string
}{
	{"the key expires", func(p *keyPair) {
		p.apply(func(of *config.Tenant) {
			of.Keys[0].Expires = time.Now().Add(200 * time.Millisecond).UTC().Format(time.RFC3339Nano)
		})
		eventually(p.t, "it is over", func() bool { r, _ := p.again("old", ""); return r.StatusCode != http.StatusOK })
	}, [3]string{unknown, "200", "200"}},
	{"the key is taken out", func(p *keyPair) { p.apply(func(of *config.Tenant) { of.Keys = of.Keys[1:] }) },
		[3]string{unknown, "200", "200"}},
	{"the day is used up", func(p *keyPair) { p.apply(func(of *config.Tenant) { of.Budget.TokensPerDay = 1 }) },
		[3]string{"200", "200", "429 quota_exceeded"}},
	{"the certificate is replaced", func(p *keyPair) {
		p.ca.Write(p.t, p.leaf.CertFile, p.leaf.KeyFile, time.Now().Add(2*time.Hour), "127.0.0.1")
		before := p.leaf.Cert.Leaf.SerialNumber
		eventually(p.t, "new connections have the next one", func() bool {
			p.client["HTTP/1.1"].CloseIdleConnections()
			r, _ := p.again("new", "")
			return r.TLS.PeerCertificates[0].SerialNumber.Cmp(before) != 0
		})
	}, [3]string{"200", "200", "200"}},
}

// Issue 23: whatever happens to its key, its budget or the certificate, what a tenant has under way ends whole, goes on
// elsewhere after a death, has its copy compared, and is charged to it once; what comes afterwards is answered by what
// is in force then.
func TestWhatHappensToKeysMeetsWhatIsUnderWay(t *testing.T) {
	for _, event := range keyEvents {
		for _, surface := range keySurfaces {
			t.Run(event.name+"/"+surface.name, func(t *testing.T) {
				t.Parallel()
				p := newKeyPair(t)
				surface.begin(p)
				event.strike(p)
				var got [3]string
				for i, ask := range [][2]string{{"old", ""}, {"new", ""}} {
					got[i] = outcomeOf(p.again(ask[0], ask[1]))
				}
				surface.goOn(p)
				st := readStream(p.answer.Body)
				p.answer.Body.Close()
				if !st.done || !st.clean || st.failed != nil {
					t.Errorf("the answer that was under way: %+v", st)
				}
				eventually(t, "nothing is held any more", p.Quiet)
				_, used := p.as("new", "GET", "/v1/usage", "")
				_, kept := p.as("new", "GET", "/v1/receipts/"+p.answer.Header.Get("X-Receipt-Id"), "")
				var u usageAnswer
				r := new(receipt.Receipt)
				if json.Unmarshal(used, &u) != nil || json.Unmarshal(kept, r) != nil {
					t.Fatalf("%s\n%s", used, kept)
				}
				if r.Result.Continued != surface.again || r.Result.CompletionTokens != 40 || !r.Result.Done ||
					u.Day.Tokens != int64(r.Prompt.Tokens+40) || u.Tenant != "team" {
					t.Errorf("%+v, a prompt of %d tokens, charged: %s", r.Result, r.Prompt.Tokens, used)
				}
				got[2] = outcomeOf(p.again("new", brief(1)))
				if got != event.want {
					t.Errorf("afterwards: %q, want %q", got, event.want)
				}
				if bytes.Contains(kept, []byte(shaOf("old"))) {
					t.Errorf("the receipt has the key's hash: %s", kept)
				}
			})
		}
	}
}
