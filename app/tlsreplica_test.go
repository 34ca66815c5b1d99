package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/app"
	"octet/config"
	"octet/gateway/apierr"
	"octet/internal/apptest"
	"octet/internal/tlstest"
)

// engineByTLS serves an engine by TLS, with a certificate that may be replaced.
func engineByTLS(t *testing.T, engine string, cert *tls.Certificate, clients *x509.CertPool) string {
	t.Helper()
	at, err := url.Parse(engine)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	s := httptest.NewUnstartedServer(proxy)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
	if clients != nil {
		s.TLS.ClientAuth, s.TLS.ClientCAs = tls.RequireAndVerifyClientCert, clients
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

const oneByTLS = `
limits: {ttft_timeout: 3s}
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: builtin
    replicas:
      - {url: "%s", blocks: 512, tls: {%s}}
`

// What is wrong between the gateway and an engine by TLS is a typed error, a reason and a cure.
func TestAnEngineIsSpokenToByTLS(t *testing.T) {
	engine := apptest.New(t, smallWorld, smallEngines())
	ca, other, clients := tlstest.New(t), tlstest.New(t), tlstest.New(t)
	soon := time.Now().Add(time.Hour)
	good, own := ca.Issue(t, soon, "127.0.0.1"), clients.Issue(t, soon, "gateway")
	elsewhere, expired := ca.Issue(t, soon, "vllm.test"), ca.Issue(t, time.Now().Add(-time.Minute), "127.0.0.1")
	pair := fmt.Sprintf(", cert: %q, key: %q", own.CertFile, own.KeyFile)
	for _, c := range []struct {
		name  string
		leaf  tlstest.Leaf
		asks  *x509.CertPool
		files string // after those of ca
		roots string
		cure  string // "" is good
	}{
		{"as it should be", good, nil, "", ca.CertFile, ""},
		{"with certificates on both sides", good, clients.Roots, pair, ca.CertFile, ""},
		{"by another name", elsewhere, nil, ", server_name: vllm.test", ca.CertFile, ""},
		{"of another host", elsewhere, nil, "", ca.CertFile, "tls.server_name"},
		{"expired", expired, nil, "", ca.CertFile, "renew"},
		{"of an unknown authority", good, nil, "", other.CertFile, "tls.ca"},
		{"without the gateway's certificate", good, clients.Roots, "", ca.CertFile, "{cert: FILE, key: FILE}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := engineByTLS(t, engine.Engines["debug-0"].URL, &c.leaf.Cert, c.asks)
			text := fmt.Sprintf(oneByTLS, at, fmt.Sprintf("ca: %q%s", c.roots, c.files))
			cfg, err := config.Parse("one.yaml", []byte(text), config.Options{Sets: engine.Sets()})
			if err != nil {
				t.Fatal(err)
			}
			w := &world{engine.Another(cfg)}
			resp, answer := w.Post("/v1/chat/completions", fmt.Sprintf(chatOne, ""))
			if c.cure == "" {
				if resp.StatusCode != 200 {
					t.Errorf("status %d: %s", resp.StatusCode, answer)
				}
				return
			}
			if resp.StatusCode != 502 && resp.StatusCode != 503 || !strings.Contains(string(answer), `"code"`) {
				t.Errorf("status %d: %s", resp.StatusCode, answer)
			}
			eventually(t, "the reason is told", func() bool {
				return w.Replica("debug-0").Fleet.Why() == "untrusted"
			})
			resp, answer = w.Post("/v1/chat/completions", fmt.Sprintf(chatOne, ""))
			checkError(t, resp, answer, 503, apierr.NoHealthyReplica, "")
			found, err := app.Examine(t.Context(), cfg, nil)
			if err != nil || len(found) == 0 || found[0].Status != "fail" || !strings.Contains(found[0].Cure, c.cure) {
				t.Errorf("doctor: %+v, %v", found, err)
			}
		})
	}
}

// Authorities that are replaced count for the next connection: a replica that was out is back.
func TestAReplicasAuthoritiesAreReloaded(t *testing.T) {
	engine := apptest.New(t, smallWorld, smallEngines())
	ca, other := tlstest.New(t), tlstest.New(t)
	leaf := ca.Issue(t, time.Now().Add(time.Hour), "127.0.0.1")
	roots := filepath.Join(t.TempDir(), "ca.crt")
	put := func(from tlstest.Authority) {
		text, err := os.ReadFile(from.CertFile)
		if err == nil {
			err = os.WriteFile(roots, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(other)
	text := fmt.Sprintf(oneByTLS, engineByTLS(t, engine.Engines["debug-0"].URL, &leaf.Cert, nil),
		fmt.Sprintf("ca: %q", roots))
	cfg, err := config.Parse("one.yaml", []byte(text), config.Options{Sets: engine.Sets()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{engine.Another(cfg)}
	eventually(t, "it is out", func() bool { return w.Replica("debug-0").Fleet.Why() == "untrusted" })
	put(ca)
	eventually(t, "it is back", func() bool { return w.Replica("debug-0").Fleet.Available() })
	if resp, answer := w.Post("/v1/chat/completions", fmt.Sprintf(chatOne, "")); resp.StatusCode != 200 {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
}

// Files that cannot be read are faults with their keys and paths.
func TestFilesOfNoUseAreFaultsOfTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "octet.yaml")
	yaml := `listen: {tls: {cert: /no/such.crt, key: /no/such.key}}
specialists: [{name: debug, replicas: [{url: "https://127.0.0.1:1", tls: {ca: /no/ca.crt}}]}]
`
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := app.Source{Path: path}.Load()
	for _, want := range []string{"listen.tls.cert: unreadable: /no/such.crt",
		"specialists[0].replicas[0].tls.ca: unreadable: /no/ca.crt"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The bounds on connections of the data listener are those of the newest configuration.
func TestBoundsOnConnectionsReload(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		w := newWorld(t, smallWorld, smallEngines(), "front="+front)
		one := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		get := func() int {
			resp, err := one.Get(w.Data + "/v1/models")
			if err != nil {
				return 0
			}
			resp.Body.Close()
			return resp.StatusCode
		}
		kept, err := http.Get(w.Data + "/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		kept.Body.Close()
		if status := get(); status != 200 {
			t.Errorf("%s: status %d", front, status)
		}
		less := *w.App.Config()
		less.Limits.ConnectionsPerAddress = 1
		if err := w.App.Apply(t.Context(), &less); err != nil {
			t.Fatal(err)
		}
		eventually(t, front+": a second connection is refused", func() bool {
			resp, err := http.Get(w.Data + "/v1/models") // holds the one place
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			return get() == 503
		})
	}
}
