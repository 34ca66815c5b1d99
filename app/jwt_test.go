package app_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// idp is an issuer of tokens.
type idp struct {
	*httptest.Server
	key   atomic.Pointer[ed25519.PrivateKey]
	kid   atomic.Int32
	asked atomic.Int32
	down  atomic.Bool
}

func newIDP(t *testing.T) *idp {
	i := silentIDP(t)
	i.Start()
	return i
}

// silentIDP is an issuer that has not begun to answer.
func silentIDP(t *testing.T) *idp {
	i := new(idp)
	i.rotate()
	i.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		if i.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		public := (*i.key.Load()).Public().(ed25519.PublicKey)
		fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k%d","x":%q}]}`, i.kid.Load(),
			base64.RawURLEncoding.EncodeToString(public))
	}))
	i.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(i.Close)
	return i
}

// rotate has the issuer sign with another key.
func (i *idp) rotate() {
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	i.key.Store(&key)
	i.kid.Add(1)
}

// token returns one that names a tenant.
func (i *idp) token(tenant string) string {
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"iss": "https://id.example.com", "aud": "octet",
		"sub": tenant, "exp": time.Now().Add(time.Hour).Unix()})
	t.Header["kid"] = fmt.Sprint("k", i.kid.Load())
	text, _ := t.SignedString(*i.key.Load())
	return text
}

// jwtWorld has a tenant that tokens alone name, and one with a key beside.
const jwtWorld = `
auth:
  anonymous: true
  jwt: {jwks: "JWKS", issuer: "https://id.example.com", audience: octet, unknown_after: 100ms}
  tenants:
    - {name: acme, priority_max: 5, priority_policy: refuse, specialists: [debug], budget: {tokens_per_day: 100000}}
    - {name: rival, key_sha256: ` + keySHA + `, max_streams: 1, rate: {requests_per_second: 0.001, burst: 2}}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s", blocks: 512}]
`

// A token is its tenant's key: limits, priorities, budgets, salts and receipts are those that a key has.
func TestATokenNamesItsTenant(t *testing.T) {
	issuer := newIDP(t)
	w := newWorld(t, strings.Replace(jwtWorld, "JWKS", issuer.URL, 1), judgedEngines()[:1])
	w.Key = issuer.token("acme")
	eventually(t, "the issuer's keys are known", func() bool {
		return w.Get(w.Data+"/v1/models", nil) == http.StatusOK
	})
	resp, body := w.Post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s", body)
	}
	if u := w.usage(); u.Tenant != "acme" || u.Day.Tokens == 0 || *u.Day.Limit != 100000 {
		t.Errorf("%+v", u)
	}
	if status := w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), nil); status != http.StatusOK {
		t.Errorf("its receipt: status %d", status)
	}
	resp, body = w.Post("/v1/chat/completions", hello, "X-Priority", "6")
	if codeOf(t, body) != "priority_not_allowed" {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	acme := w.App.Server().Runtime().Tenants
	one, err := acme.ByAuthorization(t.Context(), "Bearer "+w.Key, time.Now())
	if err != nil || one.CacheSalt == "" {
		t.Errorf("it shares the cache of all: %+v %v", one, err)
	}
	for name, key := range map[string]string{"a tenant that is not declared": issuer.token("stranger"),
		"the anonymous one": issuer.token("anonymous"), "the operators'": issuer.token("@operator"),
		"no token": "sesam", "half a token": w.Key[:len(w.Key)/2], "a wrong one": w.Key[:len(w.Key)-6] + "AAAAAA",
		"unsigned": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhY21lIn0."} {
		w.Key = key
		for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v1/responses"} {
			resp, body := w.Post(path, hello)
			if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), "invalid_api_key") {
				t.Errorf("%s at %s: status %d: %s", name, path, resp.StatusCode, body)
			}
		}
	}
	// by key or by token, one tenant has one rate
	codes := ""
	for _, key := range []string{issuer.token("rival"), key, issuer.token("rival")} {
		w.Key = key
		resp, _ := w.Post("/v1/chat/completions", hello)
		codes += fmt.Sprint(resp.StatusCode, " ")
	}
	if codes != "200 200 429 " {
		t.Errorf("rival by token, by key, by token: %s", codes)
	}
	if page := w.Metrics(); !strings.Contains(page, "octet_jwks_keys 1\n") ||
		!strings.Contains(page, "octet_jwt_remembered ") {
		t.Error("the issuer's keys are not told")
	}
}

// The issuer rotates its key: the first token of the new one has it asked, and what it revoked is refused. While it is
// down, what is known serves, under other terms too; a wrong one leaves the last.
func TestAnIssuerRotatesAndGoesDown(t *testing.T) {
	issuer := newIDP(t)
	w := newWorld(t, strings.Replace(jwtWorld, "JWKS", issuer.URL, 1), judgedEngines()[:1])
	old := issuer.token("acme")
	status := func(token string) int {
		w.Key = token
		return w.Get(w.Data+"/v1/models", nil)
	}
	eventually(t, "the issuer's keys are known", func() bool { return status(old) == http.StatusOK })
	time.Sleep(150 * time.Millisecond) // real time: unknown_after of the issuer's last answer is over
	issuer.rotate()
	if n := status(issuer.token("acme")); n != http.StatusOK {
		t.Errorf("the new key: status %d", n)
	}
	if n := status(old); n != http.StatusUnauthorized {
		t.Errorf("the revoked key: status %d", n)
	}
	issuer.down.Store(true)
	if n := status(issuer.token("acme")); n != http.StatusOK {
		t.Errorf("while the issuer is down: status %d", n)
	}
	cfg := *w.App.Config()
	looser := *cfg.Auth.JWT
	looser.Leeway += time.Second
	cfg.Auth.JWT = &looser
	if err := w.App.Apply(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	if n := status(issuer.token("acme")); n != http.StatusOK {
		t.Errorf("under other terms while the issuer is down: status %d", n)
	}
	jwt := looser
	cfg.Auth.JWT = &jwt
	jwt.Audience = "another"
	if err := w.App.Apply(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	if n := status(issuer.token("acme")); n != http.StatusUnauthorized {
		t.Errorf("for another audience, while the issuer is down: status %d", n)
	}
	asked := issuer.asked.Load()
	issuer.down.Store(false)
	eventually(t, "the issuer is asked anew", func() bool { return issuer.asked.Load() > asked })
	broken := jwt
	broken.JWKS = "/nowhere/jwks.json"
	cfg.Auth.JWT = &broken
	if err := w.App.Apply(t.Context(), &cfg); err == nil {
		t.Error("a file that is not there is taken")
	}
	cfg.Auth.JWT = nil
	if err := w.App.Apply(t.Context(), &cfg); err == nil {
		asked := issuer.asked.Load()
		if n := status(issuer.token("acme")); n != http.StatusUnauthorized || issuer.asked.Load() != asked {
			t.Errorf("without jwt: status %d", n)
		}
	}
}
