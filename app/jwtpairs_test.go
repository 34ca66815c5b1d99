package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// standing is what a token comes to at the gateway.
type standing int

const (
	good      standing = iota // its tenant's
	refused                   // nobody's
	exhausted                 // its tenant's, whose day is used up
	foreign                   // another tenant's
)

// jwtSurface is something that a tenant does, before something happens to its identity and after that. It has a tenant
// of its name.
type jwtSurface struct {
	name  string
	begin func(p *jwtPair) // leaves what its tenant has under way, or has done
	again func(p *jwtPair, token string) (*http.Response, []byte)
	want  [4]string // of again, by standing
}

const unknown = "401 invalid_api_key"

var jwtSurfaces = []jwtSurface{
	{"stream", func(p *jwtPair) { p.hold("stream", streamed(holding("debug"))) },
		func(p *jwtPair, token string) (*http.Response, []byte) { return p.chat(token, streamed(plainChat)) },
		[4]string{"200", unknown, "429 quota_exceeded", "200"}},
	{"unary", func(p *jwtPair) { p.hold("unary", holding("debug")) },
		func(p *jwtPair, token string) (*http.Response, []byte) { return p.chat(token, plainChat) },
		[4]string{"200", unknown, "429 quota_exceeded", "200"}},
	{"shadow", func(p *jwtPair) { p.chatAs("shadow", holding("systems"), "X-Intent", "review") }, // its copy is held
		func(p *jwtPair, token string) (*http.Response, []byte) {
			return p.chat(token, plainChat, "X-Intent", "review")
		},
		[4]string{"200", unknown, "429 quota_exceeded", "200"}},
	{"verdict", func(p *jwtPair) { p.chatAs("verdict", plainChat) },
		func(p *jwtPair, token string) (*http.Response, []byte) {
			return p.ask(token, "POST", "/v1/outcomes",
				fmt.Sprintf(`{"receipt":%q,"kind":"tests","pass":true}`, p.receipt("verdict")))
		},
		[4]string{"200", unknown, "200", "404 receipt_not_found"}},
	{"key", func(p *jwtPair) { p.hold("key", holding("debug"), "Idempotency-Key", "k") },
		func(p *jwtPair, token string) (*http.Response, []byte) {
			return p.chat(token, plainChat, "Idempotency-Key", "k")
		},
		[4]string{"409 idempotency_conflict", unknown, "409 idempotency_conflict", "200"}},
	{"receipts", func(p *jwtPair) { p.chatAs("receipts", plainChat) },
		func(p *jwtPair, token string) (*http.Response, []byte) {
			return p.ask(token, "GET", "/v1/receipts/"+p.receipt("receipts"), "")
		},
		[4]string{"200", unknown, "200", "404 receipt_not_found"}},
	{"session", func(p *jwtPair) { p.chatAs("session", talk(surely+"0.90"), "X-Session-Id", "s") },
		func(p *jwtPair, token string) (*http.Response, []byte) {
			return p.chat(token, talk(surely+"0.90", "an answer", surely+"0.46"), "X-Session-Id", "s")
		},
		// the session is its tenant's: another's goes to the surer one
		[4]string{"200 debug", unknown, "429 quota_exceeded", "200 systems"}},
	{"rate", func(p *jwtPair) { p.chatAs("rate", plainChat) }, // all that its rate lets through
		func(p *jwtPair, token string) (*http.Response, []byte) { return p.chat(token, plainChat) },
		[4]string{"429 quota_exceeded", unknown, "429 quota_exceeded", "200"}},
}

// jwtEvent is something that happens to identities while what the surfaces have begun is under way.
type jwtEvent struct {
	name   string
	leeway time.Duration
	life   time.Duration // of the tokens before it; zero means an hour
	strike func(p *jwtPair)
	old    standing                           // of the tokens before it
	fresh  standing                           // of those that the issuer gives afterwards
	other  func(p *jwtPair, of string) string // a token of another tenant that is good then
}

var jwtEvents = []jwtEvent{
	{name: "the token expires", life: 8 * time.Second, old: refused, other: (*jwtPair).fresh,
		strike: func(p *jwtPair) { p.until(http.StatusUnauthorized, p.old["unary"]) }},
	{name: "the key is rotated", other: (*jwtPair).fresh,
		strike: func(p *jwtPair) {
			p.issuer.rotate(true)
			p.until(http.StatusOK, p.fresh("unary"))
		}},
	{name: "the key is revoked", old: refused, other: (*jwtPair).fresh,
		strike: func(p *jwtPair) {
			p.issuer.rotate(false)
			p.until(http.StatusOK, p.fresh("unary"))
		}},
	{name: "the JWKS is down", fresh: refused, other: (*jwtPair).before,
		strike: func(p *jwtPair) { p.lose(jwksDown) }},
	{name: "the JWKS is 10 MB", fresh: refused, other: (*jwtPair).before,
		strike: func(p *jwtPair) { p.lose(jwksHuge) }},
	{name: "the JWKS is slow", fresh: refused, other: (*jwtPair).before,
		strike: func(p *jwtPair) { p.lose(jwksSlow) }},
	{name: "the tenant is removed", old: refused, fresh: refused, other: (*jwtPair).fresh, strike: (*jwtPair).remove},
	{name: "auth.jwt is changed", old: refused, other: (*jwtPair).fresh,
		strike: func(p *jwtPair) {
			terms := *p.App.Config().Auth.JWT
			terms.Audience = "second"
			p.apply(func(c *cfg) { c.Auth.JWT = &terms })
			p.issuer.audience = "second"
		}},
	{name: "auth.jwt is changed while the JWKS is down", fresh: refused, other: (*jwtPair).before,
		strike: func(p *jwtPair) {
			p.lose(jwksDown)
			terms := *p.App.Config().Auth.JWT
			terms.Leeway += time.Second
			p.apply(func(c *cfg) { c.Auth.JWT = &terms })
		}},
	{name: "the day is used up", old: exhausted, fresh: exhausted, other: (*jwtPair).fresh, strike: (*jwtPair).exhaust},
	{name: "clocks differ by almost the leeway", leeway: 5 * time.Minute, life: -4 * time.Minute,
		other: (*jwtPair).fresh, strike: func(p *jwtPair) {
			p.issuer.begins, p.issuer.life = 4*time.Minute, time.Hour
			for name, of := range map[string][2]time.Duration{"not good yet": {6 * time.Minute, time.Hour},
				"expired": {-time.Hour, -6 * time.Minute}} {
				token := p.issuer.sign("unary", of[0], of[1])
				p.tokens = append(p.tokens, token)
				if resp, body := p.ask(token, "GET", "/v1/models", ""); outcomeOf(resp, body) != unknown {
					p.T.Errorf("%s: %s", name, body)
				}
			}
		}},
}

// Whatever happens to identities, what has begun ends whole and is its tenant's to pay, what comes afterwards is
// answered by what its token is worth then, on every surface, and nothing of a token is told.
func TestWhatHappensToTokensMeetsEverySurface(t *testing.T) {
	for _, event := range jwtEvents {
		t.Run(event.name, func(t *testing.T) {
			t.Parallel()
			p := newJWTPair(t, &event)
			for _, s := range jwtSurfaces {
				s.begin(p)
			}
			p.underWay()
			event.strike(p)
			doubting(t, p.App)
			for _, s := range jwtSurfaces {
				p.check(&s, p.old[s.name], event.old)
				p.check(&s, p.fresh(s.name), event.fresh)
				p.check(&s, event.other(p, "other"), foreign)
			}
			p.release()
			p.settled()
			p.nothingTold()
		})
	}
}

// check does again what a surface does, by a token that is worth so much.
func (p *jwtPair) check(s *jwtSurface, token string, worth standing) {
	p.T.Helper()
	resp, body := s.again(p, token)
	got := outcomeOf(resp, body)
	if s.name == "session" && got == "200" {
		got += " " + resp.Header.Get("X-Specialist")
	}
	if got != s.want[worth] {
		p.T.Errorf("%s, standing %d: %s, want %s: %s", s.name, worth, got, s.want[worth], body)
	}
	payer := s.name
	if worth == foreign {
		payer = "other"
	}
	p.pays(payer, resp)
	if strings.Contains(string(body), token) {
		p.T.Errorf("%s: the token is told: %s", s.name, body)
	}
}
