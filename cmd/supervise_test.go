package cmd

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"octet/cmd/adminclient"
	"octet/internal/apptest"
	"octet/internal/tlstest"
)

// secureWorld is a world whose listeners speak TLS, with what its clients have.
type secureWorld struct {
	*apptest.World
	server  tlstest.Authority
	client  tlstest.Leaf // of the authority that sets name, if they do
	data    string       // host:port, as admin
	admin   string
	watched []watched
}

// newSecureWorld returns one; demanding has both listeners demand a client's certificate.
func newSecureWorld(t *testing.T, demanding bool, sets ...string) *secureWorld {
	t.Helper()
	soon := time.Now().Add(time.Hour)
	s := &secureWorld{server: tlstest.New(t)}
	clients, leaf := tlstest.New(t), s.server.Issue(t, soon, "127.0.0.1")
	s.client = clients.Issue(t, soon, "operator")
	for _, key := range []string{"listen.tls", "listen.admin_tls"} {
		sets = append(sets, key+".cert="+leaf.CertFile, key+".key="+leaf.KeyFile)
		if demanding {
			sets = append(sets, key+".client_ca="+clients.CertFile)
		}
	}
	s.World = apptest.New(t, apptest.Small, apptest.SmallEngines(), sets...)
	s.data, s.admin = strings.TrimPrefix(s.Data, "http://"), strings.TrimPrefix(s.Admin, "http://")
	for _, at := range []string{s.data, s.admin} {
		addr, err := net.ResolveTCPAddr("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		s.watched = append(s.watched, watched{Addr: addr, tls: true})
	}
	return s
}

// A listener is alive whatever it demands, and however full it is.
func TestAListenerThatSpeaksTLSIsAliveWhateverItDemands(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, demanding := range []bool{false, true} {
		w := newSecureWorld(t, demanding)
		if err := alive(ctx, w.watched...); err != nil {
			t.Errorf("demanding %v: %v", demanding, err)
		}
	}
	w := newSecureWorld(t, false, "limits.connections_per_address=1")
	held, err := net.Dial("tcp", w.data)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	_, _ = held.Write([]byte{0x16, 3, 1}) // of a handshake, so that it is accepted
	if err := alive(ctx, w.watched...); err != nil {
		t.Errorf("no place is left: %v", err)
	}
}

// What accepts no connection, or does not react on one, is not alive.
func TestAListenerThatDoesNotReactIsNotAlive(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, no program takes them
	if err != nil {
		t.Fatal(err)
	}
	for _, secure := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := alive(ctx, watched{Addr: silent.Addr(), tls: secure}); err == nil {
			t.Errorf("TLS %v: silence is life", secure)
		}
		cancel()
	}
	silent.Close()
	if err := alive(t.Context(), watched{Addr: silent.Addr()}); err == nil {
		t.Error("a closed port is life")
	}
}

func TestHealthIsToldByListenersThatSpeakTLS(t *testing.T) {
	open, demanding := newSecureWorld(t, false), newSecureWorld(t, true)
	files := func(w *secureWorld) string {
		return " --ca " + w.server.CertFile + " --tls-cert " + w.client.CertFile + " --tls-key " + w.client.KeyFile
	}
	for _, c := range []struct {
		line string
		want string // pattern of the answer, or of the error
	}{
		{"--data " + open.data, "^ready\n$"},
		{"--data " + open.admin + " --live", "^ok\n$"},
		{"--data https://" + open.data + " --insecure", "^ready\n$"},
		{"--data https://" + open.data, "not healthy: .*unknown authority"},
		{"--data http://" + open.data, "not healthy: .*speaks TLS"},
		{"--data " + open.data + " --ca " + open.server.CertFile, "^ready\n$"},
		{"--data " + open.data + " --ca " + demanding.server.CertFile, "not healthy: .*unknown authority"},
		{"--data " + demanding.data + " --live", "^ok: a client's certificate is demanded\n$"},
		{"--data " + demanding.data, "not healthy: .*certificate required"},
		{"--data " + demanding.data + files(demanding), "^ready\n$"},
		{"--data " + demanding.admin + files(demanding), "^ready\n$"},
		{"--data " + open.data + " --tls-cert " + open.client.CertFile, "needs its"},
	} {
		out, err := command(t, append([]string{"health"}, strings.Fields(c.line)...)...)
		if err != nil {
			out = err.Error()
		}
		if !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("octet health %s: %q", c.line, out)
		}
	}
}

// The commands of an operator show a certificate where the admin listener demands one.
func TestCommandsShowACertificateWhereOneIsDemanded(t *testing.T) {
	w := newSecureWorld(t, true, "admin.token="+token)
	t.Setenv(adminclient.TokenVar, token)
	files := []string{"--admin", w.admin, "--ca", w.server.CertFile, "--tls-cert", w.client.CertFile,
		"--tls-key", w.client.KeyFile}
	transport := &http.Transport{TLSClientConfig: w.clientTLS(t)}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post("https://"+w.data+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"debug","messages":[{"role":"user","content":"why"}],"max_tokens":3}`))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	refused := regexp.MustCompile("certificate required|could not be established") // of Go's two clients
	for line, want := range map[string]string{
		"drain debug-0":       "drains",
		"drain debug-0 --off": "is not draining",
		"knob list":           "shadow_threshold",
		"top --once":          "debug-0",
		"doctor":              "pass",
		"explain --receipt " + resp.Header.Get("X-Receipt-Id"): "debug",
	} {
		args := strings.Fields(line)
		if out, err := command(t, append(args, files...)...); err != nil && args[0] != "doctor" ||
			!strings.Contains(out, want) {
			t.Errorf("octet %s: %v\n%s", line, err, out)
		}
		if out, err := command(t, append(args, files[:4]...)...); err == nil || !refused.MatchString(err.Error()) {
			t.Errorf("octet %s without a certificate: %v\n%s", line, err, out)
		}
	}
}

func (w *secureWorld) clientTLS(t *testing.T) *tls.Config {
	t.Helper()
	return &tls.Config{RootCAs: w.server.Roots, Certificates: []tls.Certificate{w.client.Cert}}
}
