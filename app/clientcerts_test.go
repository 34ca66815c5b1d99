package app_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/internal/tlstest"
)

// certified is a world whose listeners demand certificates of clients.
type certified struct {
	*world
	server  tlstest.Authority
	clients tlstest.Authority
	roots   string // the file of the authorities of clients' certificates
}

func newCertified(t *testing.T, sets ...string) *certified {
	t.Helper()
	c := &certified{server: tlstest.New(t), clients: tlstest.New(t), roots: filepath.Join(t.TempDir(), "ca.crt")}
	c.trust(t, c.clients)
	leaf := c.server.Issue(t, time.Now().Add(time.Hour), "127.0.0.1")
	for _, key := range []string{"listen.tls", "listen.admin_tls"} {
		sets = append(sets, key+".cert="+leaf.CertFile, key+".key="+leaf.KeyFile, key+".client_ca="+c.roots)
	}
	c.world = newWorld(t, smallWorld, smallEngines(), sets...)
	return c
}

// trust puts authorities into the file.
func (c *certified) trust(t *testing.T, from tlstest.Authority) {
	t.Helper()
	text, err := os.ReadFile(from.CertFile)
	if err == nil {
		err = os.WriteFile(c.roots, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// as returns a client of a protocol that shows a certificate; without one, it shows none.
func (c *certified) as(t *testing.T, h2 bool, most uint16, shown ...tls.Certificate) *http.Client {
	transport := &http.Transport{ForceAttemptHTTP2: h2,
		TLSClientConfig: &tls.Config{RootCAs: c.server.Roots, MaxVersion: most,
			// whatever the server says that it accepts
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if len(shown) == 0 {
					return new(tls.Certificate), nil
				}
				return &shown[0], nil
			}}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (c *certified) urls() map[string]string {
	return map[string]string{"data": strings.Replace(c.Data, "http:", "https:", 1) + "/v1/models",
		"admin": strings.Replace(c.Admin, "http:", "https:", 1) + "/livez"}
}

func statusAt(client *http.Client, url string) (int, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// Only a certificate of the authorities that is good now opens either listener. The others are told which it is.
func TestListenersDemandCertificatesOfClients(t *testing.T) {
	c := newCertified(t)
	soon := time.Now().Add(time.Hour)
	issued := func(by tlstest.Authority, end time.Time) []tls.Certificate {
		return []tls.Certificate{by.Issue(t, end, "agent").Cert}
	}
	const unknown = "unknown certificate authority"
	cases := map[string]struct {
		shown []tls.Certificate
		want  string // of the error; "" if it is served
	}{
		"a good one":              {issued(c.clients, soon), ""},
		"none":                    {nil, "certificate required|handshake failure"},
		"an expired one":          {issued(c.clients, time.Now().Add(-time.Minute)), "expired"},
		"one not good yet":        {issued(c.clients, soon.Add(72*time.Hour)), "expired"},
		"of another authority":    {issued(tlstest.New(t), soon), unknown},
		"the gateway's authority": {issued(c.server, soon), unknown},
	}
	for listener, url := range c.urls() {
		for name, of := range cases {
			for _, most := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				got, err := statusAt(c.as(t, false, most, of.shown...), url)
				if of.want == "" && (err != nil || got != http.StatusOK) {
					t.Errorf("%s, %s, TLS %x: %d, %v", listener, name, most, got, err)
				}
				if of.want != "" && (err == nil || !oneOf(err.Error(), of.want)) {
					t.Errorf("%s, %s, TLS %x: %d, %v", listener, name, most, got, err)
				}
			}
			if got, err := statusAt(c.as(t, true, 0, of.shown...), url); (err == nil) != (of.want == "") {
				t.Errorf("%s, %s, HTTP/2: %d, %v", listener, name, got, err)
			}
		}
	}
}

func oneOf(text, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// Authorities that are replaced count for the next handshake, on both listeners. A stream that has begun goes on, and
// files that are no use leave the last good ones in force.
func TestAuthoritiesOfClientsAreReplacedWithoutAStart(t *testing.T) {
	c := newCertified(t)
	soon := time.Now().Add(time.Hour)
	next := tlstest.New(t)
	old, young := c.clients.Issue(t, soon, "agent").Cert, next.Issue(t, soon, "agent").Cert
	stream := c.as(t, true, 0, old)
	for _, name := range []string{"debug-0", "debug-1"} {
		c.Fault(name, `{"kind":"slow","k":100,"times":1}`)
	}
	resp, err := stream.Post(strings.Replace(c.Data, "http:", "https:", 1)+"/v1/chat/completions", "application/json",
		strings.NewReader(fmt.Sprintf(chatOne, `,"stream":true`)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	c.trust(t, next)
	for listener, url := range c.urls() {
		eventually(t, listener+": the next authority counts", func() bool {
			_, err := statusAt(c.as(t, false, 0, young), url)
			return err == nil
		})
		if got, err := statusAt(c.as(t, false, 0, old), url); err == nil {
			t.Errorf("%s: the authority of before is accepted: %d", listener, got)
		}
	}
	if st := readStream(resp.Body); !st.done || !st.clean {
		t.Errorf("the stream of before: %+v", st)
	}
	if err := os.WriteFile(c.roots, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	operator := c.as(t, false, 0, young)
	refused := func() bool {
		resp, err := operator.Get(strings.TrimSuffix(c.urls()["admin"], "/livez") + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := wholeOf(t, resp)
		return strings.Contains(text, `octet_certificate_files_refused{replica="",use="listen.tls"} 1`)
	}
	eventually(t, "the files are refused", refused)
	for listener, url := range c.urls() {
		if got, err := statusAt(c.as(t, false, 0, young), url); err != nil || got != http.StatusOK {
			t.Errorf("%s: the last good authority: %d, %v", listener, got, err)
		}
	}
}
