package app_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/app"
	"octet/config"
	"octet/gateway/api"
	"octet/internal/tlstest"
)

// The keys of an issuer are seen, and its authority may be replaced: a new one counts at the next reading, and while
// the old one does, operators see why no token is accepted.
func TestTheIssuersKeysAreSeenAndItsAuthorityIsReloaded(t *testing.T) {
	ca, other := tlstest.New(t), tlstest.New(t)
	issuer, roots := silentIDP(t), filepath.Join(t.TempDir(), "ca.crt")
	trust := func(from tlstest.Authority) {
		t.Helper()
		text, err := os.ReadFile(from.CertFile)
		if err == nil {
			err = os.WriteFile(roots, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	issuer.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, time.Now().Add(time.Hour), "127.0.0.1").Cert}}
	issuer.StartTLS()
	trust(other)
	w := newWorld(t, strings.Replace(jwtWorld, "JWKS", issuer.URL+`", ca: "`+roots, 1), judgedEngines()[:1])
	seen := func() *api.IssuerState {
		var state api.EnsembleState
		w.Get(w.Admin+"/admin/state", &state)
		return state.JWKS
	}
	verdict := func() api.Finding {
		found, err := app.Examine(t.Context(), w.App.Config(), nil)
		for _, f := range found {
			if f.Check == "jwks" {
				return f
			}
		}
		t.Fatal("doctor says nothing of the issuer", err)
		return api.Finding{}
	}
	eventually(t, "the reading has failed", func() bool { s := seen(); return s != nil && s.Error != "" })
	if s := seen(); s.Keys != 0 || s.AgeMs != nil || s.Lost == 0 || !strings.Contains(s.Error, "certificate") ||
		strings.Contains(s.Error, issuer.URL) {
		t.Errorf("%+v", s)
	}
	if f := verdict(); f.Status != "fail" || !strings.Contains(f.Cure, "auth.jwt.ca") {
		t.Errorf("%+v", f)
	}
	w.Key = issuer.token("acme")
	status := func() int { return w.Get(w.Data+"/v1/models", nil) }
	if n := status(); n != http.StatusServiceUnavailable {
		t.Errorf("without keys: status %d", n)
	}
	trust(ca)
	eventually(t, "the new authority counts", func() bool { return status() == http.StatusOK })
	s := seen()
	if s.Keys != 1 || s.AgeMs == nil || *s.AgeMs < 0 || s.Reads == 0 || s.Error != "" || s.Remembered != 1 {
		t.Errorf("%+v", s)
	}
	if f := verdict(); f.Status != "pass" || !strings.HasPrefix(f.Detail, "1 keys") {
		t.Errorf("%+v", f)
	}
	if page := w.Metrics(); !strings.Contains(page, `octet_certificate_files_refused{replica="",use="auth.jwt"} 0`) {
		t.Error("the authority's file is not told of")
	}
	without := *w.App.Config()
	without.Auth.JWT = nil
	if err := w.App.Apply(t.Context(), &without); err != nil {
		t.Fatal(err)
	}
	if s := seen(); s != nil || strings.Contains(w.Metrics(), `use="auth.jwt"`) {
		t.Errorf("without auth.jwt: %+v", s)
	}
}

// An authority that cannot be read is a fault of the configuration, with its key.
func TestAnIssuersAuthorityThatCannotBeReadIsAFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "octet.yaml")
	yaml := `auth:
  jwt: {jwks: "https://id.example.com/jwks", ca: /no/ca.crt, issuer: x, audience: y}
  tenants: [{name: acme}]
specialists: [{name: debug, replicas: [{url: "http://127.0.0.1:1"}]}]
`
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := app.Source{Path: path}.Load()
	if err == nil || !strings.Contains(err.Error(), "auth.jwt.ca: unreadable: /no/ca.crt") {
		t.Errorf("%v", err)
	}
	if _, err := config.Parse("one.yaml", []byte(yaml), config.Options{}); err != nil {
		t.Error(err)
	}
}
