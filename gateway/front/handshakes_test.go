package front

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/internal/await"
	"octet/internal/certs"
	"octet/internal/tlstest"
)

// secured is a data server that speaks TLS.
type secured struct {
	Bounded
	address string
	client  *tls.Config
}

func serveSecured(t *testing.T, limits Limits) *secured {
	t.Helper()
	ca := tlstest.New(t)
	source, err := certs.Open(certs.Files{Cert: ca.CertFile, Key: ca.KeyFile})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(NetHTTP, limits)
	cfg.Limits.HeaderTimeout, cfg.TLS = time.Minute, source.Server()
	s := &secured{Bounded: Data(cfg, http.NotFoundHandler()),
		client: &tls.Config{RootCAs: ca.Roots, ServerName: "127.0.0.1"}}
	s.address = serve(t, s.Bounded)
	return s
}

// begin opens a connection that begins a handshake and never goes on.
func (s *secured) begin(t *testing.T) net.Conn {
	t.Helper()
	c := dial(t, s.address)
	if _, err := c.Write([]byte{0x16, 3, 1}); err != nil {
		t.Fatal(err)
	}
	return c
}

// served returns an error unless a client is answered.
func (s *secured) served() error {
	c, err := tls.Dial("tcp", s.address, s.client)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(c)
	if err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 404") {
		err = errors.New(string(answer))
	}
	return err
}

func (s *secured) handshakes(t *testing.T) Handshakes {
	t.Helper()
	h, is := HandshakesOf(s.Bounded)
	if !is {
		t.Fatal("it does not speak TLS")
	}
	return h
}

// However many handshakes never end, only so many are on their way, and those that go on are served.
func TestHandshakesThatNeverEndAreBounded(t *testing.T) {
	const most, begun = 8, 200
	s := serveSecured(t, Limits{Handshakes: most})
	for i := range begun {
		s.begin(t)
		if i%20 == 0 {
			if err := s.served(); err != nil {
				t.Fatalf("after %d: %v", i, err)
			}
		}
	}
	await.True(t, "the oldest are given up", func() bool {
		return s.handshakes(t).Crowded >= begun-most && s.Connections() <= most
	})
	if err := s.served(); err != nil {
		t.Error(err)
	}
	if h := s.handshakes(t); h.Done != begun/20+1 || h.Failed+h.Late+h.Plain != 0 {
		t.Errorf("%+v", h)
	}
}

// One address has no more connections in a handshake than it may have at all, and others keep their places.
func TestHandshakesCountAsConnectionsOfTheirAddress(t *testing.T) {
	s := serveSecured(t, Limits{PerAddress: 3, Handshakes: 100})
	var held []net.Conn
	for range 3 {
		held = append(held, s.begin(t))
	}
	await.True(t, "all three have their places", func() bool { return s.Connections() == 3 })
	if err := s.served(); err == nil {
		t.Error("a fourth is served")
	}
	if n := s.Turned().Address; n != 1 {
		t.Errorf("%d were turned away", n)
	}
	held[0].Close()
	await.True(t, "a place is free again", func() bool { return s.served() == nil })
}

// A client that offers other protocols alone is told so; one that offers none speaks HTTP/1.1.
func TestProtocolsThatDoNotFitAreRefused(t *testing.T) {
	s := serveSecured(t, Limits{})
	for offered, want := range map[string]string{"": "", "http/1.1": "http/1.1", "h2": "h2", "h2,http/1.1": "h2",
		"smtp,http/1.1": "http/1.1", "http/1.0": "refused", "h3": "refused", "smtp": "refused"} {
		client := s.client.Clone()
		if offered != "" {
			client.NextProtos = strings.Split(offered, ",")
		}
		c, err := tls.Dial("tcp", s.address, client)
		got := "refused"
		if err == nil {
			got = c.ConnectionState().NegotiatedProtocol
			c.Close()
		} else if !strings.Contains(err.Error(), "no application protocol") {
			t.Errorf("%q: %v", offered, err)
		}
		if got != want {
			t.Errorf("%q: %q is spoken, not %q", offered, got, want)
		}
	}
}

// A connection that goes idle after its handshake is closed in a drain; one in a handshake holds nothing up.
func TestADrainWaitsForNoHandshake(t *testing.T) {
	s := serveSecured(t, Limits{})
	held := s.begin(t)
	await.True(t, "it has its place", func() bool { return s.Connections() == 1 })
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := held.Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("it is still open: %v", err)
	}
	if n := s.Connections(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
}
