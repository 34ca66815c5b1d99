package front

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/gateway/apierr"
	"octet/internal/await"
)

// serve starts s on a port of its own, and returns the address.
func serve(t *testing.T, s Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // it ends with Close
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return l.Addr().String()
}

// config is one whose refusals tell their code and the id.
func config(kind Kind, limits Limits) *Config {
	limits.HeaderTimeout, limits.KeepaliveTimeout, limits.WriteTimeout = time.Second, time.Minute, time.Second
	return &Config{
		Kind: kind, Base: context.Background(), Limits: limits, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { return "new-id" },
		Refuse: func(w http.ResponseWriter, asked Asked, e *apierr.Error) {
			w.Header().Set("X-Code", string(e.Code))
			w.Header().Set("X-Asked", asked.ID)
			w.Header().Set("X-Path", asked.Path)
			w.WriteHeader(e.Status())
		},
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second)) // a TCP connection has deadlines
	return c
}

// answer is what the server sends on c, with what has been asked on it.
func answer(t *testing.T, c net.Conn, asked string) (resp *http.Response, body string) {
	t.Helper()
	if _, err := io.WriteString(c, asked); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestBothKindsRefuseAlike(t *testing.T) {
	const get = "GET /a HTTP/1.1\r\nHost: x\r\n"
	for _, kind := range []Kind{Octet, NetHTTP} {
		cfg := config(kind, Limits{HeaderFields: 4})
		handler := Certain(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Handled", "yes") },
			cfg.Refuse)
		address := serve(t, Data(cfg, handler))
		for _, c := range []struct {
			name, head string
			status     int
			code       apierr.Code
			asked      string
			path       string
		}{
			{"a request", get + "\r\n", 200, "", "", ""},
			{"no host", "GET /a?b HTTP/1.1\r\n\r\n", 400, apierr.InvalidRequest, "", "/a"},
			{"another version", "GET /a HTTP/2.0\r\nHost: x\r\n\r\n", 505, apierr.InvalidRequest, "", "/a"},
			{"many fields", get + strings.Repeat("X-Many: x\r\n", 5) + "\r\n", 431, apierr.HeaderTooLarge, "", "/a"},
			{"half a head", get + "X-Slow: ", 408, apierr.RequestTimeout, "", "/a"},
			{"half a request line", "GET /a", 408, apierr.RequestTimeout, "", ""},
			{"two meanings", "GET /a%2Fb HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n", 400,
				apierr.InvalidRequest, "mine", "/a/b"},
		} {
			resp, _ := answer(t, dial(t, address), c.head)
			if resp.Header.Get("X-Path") != c.path {
				t.Errorf("%s, %s: the path is told as %q", kind, c.name, resp.Header.Get("X-Path"))
			}
			if resp.StatusCode != c.status || apierr.Code(resp.Header.Get("X-Code")) != c.code ||
				resp.Header.Get("X-Asked") != c.asked ||
				(resp.Header.Get("X-Handled") == "yes") != (c.status == 200) {
				t.Errorf("%s, %s: %d %v", kind, c.name, resp.StatusCode, resp.Header)
			}
		}
	}
}

func TestConnectionsBeyondTheBoundsAreRefused(t *testing.T) {
	const get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, kind := range []Kind{Octet, NetHTTP} {
		for _, c := range []struct {
			limits Limits
			code   apierr.Code
			status int
		}{
			{Limits{Connections: 1}, apierr.Overloaded, 503},
			{Limits{PerAddress: 1}, apierr.Overloaded, 503},
		} {
			began, goOn := make(chan struct{}), make(chan struct{})
			cfg := config(kind, c.limits)
			address := serve(t, Data(cfg, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				began <- struct{}{}
				<-goOn
			})))
			first := dial(t, address)
			if _, err := io.WriteString(first, get); err != nil {
				t.Fatal(err)
			}
			<-began
			resp, body := answer(t, dial(t, address), "")
			if code := resp.Header.Get("X-Code") + body; resp.StatusCode != c.status ||
				!strings.Contains(code, string(c.code)) {
				t.Errorf("%s, %+v: %d %s", kind, c.limits, resp.StatusCode, code)
			}
			close(goOn)
			if resp, _ := answer(t, first, ""); resp.StatusCode != 200 {
				t.Errorf("%s: the first was answered %d", kind, resp.StatusCode)
			}
		}
	}
}

func TestASilentConnectionMakesRoom(t *testing.T) {
	for _, kind := range []Kind{Octet, NetHTTP} {
		address := serve(t, Data(config(kind, Limits{Connections: 1}), http.NotFoundHandler()))
		silent := dial(t, address)
		if resp, _ := answer(t, silent, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 404 {
			t.Fatalf("%s: %d", kind, resp.StatusCode)
		}
		await.True(t, "a new one is answered", func() bool { // as soon as the server has seen that the first is silent
			resp, _ := answer(t, dial(t, address), "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
			return resp.StatusCode == 404
		})
		if n, err := silent.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: the silent one read %d bytes", kind, n)
		}
	}
}

// net/http alone would wait for the connection that has sent nothing.
func TestShutdownEndsWhileASilentConnectionIsOpen(t *testing.T) {
	for _, kind := range []Kind{Octet, NetHTTP} {
		cfg := config(kind, Limits{})
		cfg.Limits.HeaderTimeout = time.Minute // which would end the silent connection
		s := Data(cfg, http.NotFoundHandler())
		address := serve(t, s)
		dial(t, address)
		if resp, _ := answer(t, dial(t, address), "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 404 {
			t.Fatalf("%s: %d", kind, resp.StatusCode) // both are accepted by now
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		cancel()
	}
}

func TestTargetsOfTwoMeanings(t *testing.T) {
	for target, want := range map[string]bool{
		"/v1/models": false, "/v1/models/a%2fb": true, "/v1/models/a%2Fb": true, "/a%5Cb": true, "/%2e%2e/admin": true,
		"/a%20b": false, "/a%20b%2F": true, "/a?q=%2F": false, "/a%2": false, "/a%": false, "": false,
	} {
		if twofold(target) != want {
			t.Errorf("%q: %v", target, !want)
		}
	}
}

func TestClientsLeaveDescriptorsForEngines(t *testing.T) {
	for _, c := range []struct{ files, replicas, want int }{
		{1024, 0, 448}, {1024, 10, 428}, {64, 100, 16}, {1, 0, 1}, {0, 0, 1},
	} {
		if got := connectionsWithin(c.files, c.replicas); got != c.want {
			t.Errorf("%d files, %d replicas: %d connections, want %d", c.files, c.replicas, got, c.want)
		}
	}
	if openFiles() > 0 {
		if got := config(Octet, Limits{}).Room(0); got < 1 {
			t.Errorf("%d connections", got)
		}
	}
}
