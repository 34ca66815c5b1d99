package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"octet/config"
	"octet/internal/tlstest"
)

// check reads the files of specialists[].discover too: it counts what they list, tells of one that is absent, and
// refuses what is wrong in them.
func TestCheckReadsTheFilesOfDiscover(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func() (string, error) {
		var out bytes.Buffer
		root := Root()
		root.SetOut(&out)
		root.SetArgs([]string{"check", "octet.yaml"})
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	write("octet.yaml",
		"specialists:\n- {name: debug, replicas: [{url: 'http://a:1'}], discover: {file: found.yaml}}\n")
	if out, err := check(); err != nil || !strings.Contains(out, "1 specialists, 1 replicas\n") ||
		!strings.Contains(out, "found.yaml is not there") {
		t.Errorf("an absent file: %v\n%s", err, out)
	}
	write("found.yaml", "- {url: 'http://b:1'}\n- {url: 'http://c:1', engine: vllm, ranks: 2}\n")
	if out, err := check(); err != nil || !strings.Contains(out, "1 specialists, 4 replicas\n") {
		t.Errorf("%v\n%s", err, out)
	}
	write("found.yaml", "- {url: 'http://b:1'}\n- {url: 'http://A:1'}\n")
	_, err := check()
	var faults *config.Faults
	if !errors.As(err, &faults) || len(faults.List) != 1 || faults.List[0].Line != 2 ||
		faults.List[0].File != "found.yaml" {
		t.Errorf("a URL that is listed: %v", err)
	}
}

// check tells of keys that have ended or end within a fortnight, by their place.
func TestCheckTellsOfKeysThatEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	key := func(i int, ends time.Time) string {
		return fmt.Sprintf("{sha256: a%063x, expires: %s}", i+1, ends.UTC().Format(time.RFC3339))
	}
	text := "specialists: [{name: debug, replicas: [{url: 'http://a:1'}]}]\nauth: {tenants: [{name: acme, keys: [" +
		key(0, time.Now().Add(-time.Hour)) + ", " + key(1, time.Now().Add(13*24*time.Hour)) + ", " +
		key(2, time.Now().Add(15*24*time.Hour)) + "]}]}\n"
	if err := os.WriteFile("octet.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := Root()
	root.SetOut(&out)
	root.SetArgs([]string{"check", "octet.yaml"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false} {
		if strings.Contains(out.String(), fmt.Sprintf("auth.tenants[0].keys[%d]: a key of acme ", i)) != want {
			t.Errorf("key %d: %s", i, out.String())
		}
	}
	if strings.Contains(out.String(), "a0000000") {
		t.Errorf("a hash is told: %s", out.String())
	}
}

// check warns of what others can reach or read, and of certificates that have ended or end within a fortnight.
func TestCheckWarnsOfWhatIsOpenAndOfCertificatesThatEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	ca := tlstest.New(t)
	ended, soon := ca.Issue(t, time.Now().Add(-time.Hour)), ca.Issue(t, time.Now().Add(13*24*time.Hour))
	later := ca.Issue(t, time.Now().Add(15*24*time.Hour))
	pair := func(l tlstest.Leaf) string { return fmt.Sprintf("{cert: %q, key: %q}", l.CertFile, l.KeyFile) }
	const anonymous, keys, token = "any client is served", "keys and prompts go", "operators' token goes"
	for _, c := range []struct {
		listen string
		want   []string // of all that may be warned of
	}{
		{"", nil},
		{"data: ':8080'", []string{anonymous, keys}},
		{"data: ':8080', tls: " + pair(later), []string{anonymous}},
		{"data: ':8080', tls: {client_ca: " + ca.CertFile + ", " + pair(later)[1:], nil},
		{"admin: ':8081'", []string{token}},
		{"admin: ':8081', admin_tls: " + pair(later), nil},
		{"tls: " + pair(ended), []string{"listen.tls.cert: " + ended.CertFile + " has expired on "}},
		{"admin_tls: " + pair(soon), []string{"listen.admin_tls.cert: " + soon.CertFile + " expires on "}},
	} {
		text := "listen: {" + c.listen + "}\nadmin: {token: a token that is long enough}\n" +
			"specialists: [{name: debug, replicas: [{url: 'http://a:1'}]}]\n"
		if err := os.WriteFile("octet.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := command(t, "check", "octet.yaml")
		if err != nil || strings.Count(out, "warning: ") != len(c.want) {
			t.Errorf("%s: %v\n%s", c.listen, err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not told:\n%s", c.listen, want, out)
			}
		}
	}
}
