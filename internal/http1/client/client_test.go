package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRequestSaysWhatTheCallerMeantAndNothingElse(t *testing.T) {
	seen := make(chan *http.Request, 1)
	url := listen(t, func(p *peer) {
		for r := p.request(); r != nil; r = p.request() {
			seen <- r
			p.say(ok)
		}
	})
	c := dialUp(t, Config{URL: url + "/base/path/", Bearer: "default"})
	r := post("")
	r.Segments = [][]byte{[]byte(`{"a":`), nil, []byte(`1}`)}
	r.RequestID, r.Accept, r.Bearer = "req-1", "text/event-stream", "secret"
	status, body, err := exchange(c, r)
	if status != 200 || body != "ok" || err != nil {
		t.Fatalf("got %d %q %v", status, body, err)
	}
	got := <-seen
	text, _ := io.ReadAll(got.Body)
	want := http.Header{
		"User-Agent": {"octet"}, "Accept": {"text/event-stream"}, "X-Request-Id": {"req-1"},
		"Authorization": {"Bearer secret"},
		"Content-Type":  {"application/json"}, "Content-Length": {"7"},
	}
	if got.Method != "POST" || got.URL.Path != "/base/path/v1/completions" || string(text) != `{"a":1}` ||
		got.ContentLength != 7 {
		t.Errorf("got %s %s %q", got.Method, got.URL, text)
	}
	if "http://"+got.Host != url {
		t.Errorf("Host is %q", got.Host)
	}
	for name := range got.Header {
		if got.Header.Get(name) != want.Get(name) || len(got.Header[name]) != 1 {
			t.Errorf("%s: %q, want %q", name, got.Header[name], want[name])
		}
	}
	if len(got.Header) != len(want) {
		t.Errorf("got headers %v", got.Header)
	}
}

func TestRequestWithoutOptionsUsesTheDefaults(t *testing.T) {
	seen := make(chan *http.Request, 2)
	url := listen(t, func(p *peer) {
		for r := p.request(); r != nil; r = p.request() {
			seen <- r
			p.say(ok)
		}
	})
	c := dialUp(t, Config{URL: url, Bearer: "default"})
	for _, r := range []*Request{{Method: "GET", Path: "/health?x=1"}, {Method: "POST", Path: "/"}} {
		if _, _, err := exchange(c, r); err != nil {
			t.Fatal(err)
		}
	}
	get, empty := <-seen, <-seen
	if get.Header.Get("Authorization") != "Bearer default" || get.Header.Get("Content-Length") != "" ||
		get.URL.RawQuery != "x=1" {
		t.Errorf("got %v %v", get.URL, get.Header)
	}
	if empty.Header.Get("Content-Length") != "0" {
		t.Errorf("a POST without body says %v", empty.Header)
	}
}

func TestNoValueCanAddALineToARequest(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t, func(p *peer) { t.Error("dialled") })})
	for _, bad := range []string{"a\r\nX-Evil: 1", "a\nb", "a\rb", "a b", "a\x00b", "a\tb", "ü", "\x7f"} {
		for name, r := range map[string]*Request{
			"method": {Method: bad, Path: "/"}, "path": {Method: "GET", Path: "/" + bad},
			"id": {Method: "GET", Path: "/", RequestID: bad}, "bearer": {Method: "GET", Path: "/", Bearer: bad},
		} {
			if _, err := c.Do(context.Background(), r); !errors.Is(err, ErrRequest) {
				t.Errorf("%s %q: %v", name, bad, err)
			}
		}
	}
	for _, r := range []*Request{{Method: "", Path: "/"}, {Method: "GET"}, {Method: "GET", Path: "x"},
		{Method: "GET", Path: "http://h/"}} {
		if _, err := c.Do(context.Background(), r); !errors.Is(err, ErrRequest) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := New(Config{URL: "http://h", Bearer: "a\r\nb"}); !errors.Is(err, ErrConfig) {
		t.Errorf("bearer: %v", err)
	}
}

func TestLargeBodiesArriveWholeAndSegmentsStayUntouched(t *testing.T) {
	got := make(chan []byte, 1)
	url := listen(t, func(p *peer) {
		for r := p.request(); r != nil; r = p.request() {
			body, _ := io.ReadAll(r.Body)
			got <- body
			p.say(ok)
		}
	})
	c := dialUp(t, Config{URL: url})
	for _, size := range []int{1, bufferSize - 200, bufferSize, 1 << 20, 8 << 20} {
		half := bytes.Repeat([]byte("abcdefgh"), size/16+1)
		before := bytes.Clone(half)
		r := post("")
		r.Segments = [][]byte{half, half[:len(half)/2]}
		if _, body, err := exchange(c, r); err != nil || body != "ok" {
			t.Fatalf("%d: %q %v", size, body, err)
		}
		if want := append(bytes.Clone(half), half[:len(half)/2]...); !bytes.Equal(<-got, want) ||
			!bytes.Equal(half, before) {
			t.Errorf("%d: the body was changed", size)
		}
	}
	if c.idleCount() != 1 {
		t.Errorf("%d connections were opened", c.idleCount())
	}
}

func TestHeadersAreFoundInAnyCase(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t,
		each("HTTP/1.1 200 OK\r\nX-A:  one \t\r\nx-a: two\r\nX-Ab: ab\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n"))})
	resp, err := c.Do(context.Background(), post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	for name, want := range map[string]string{"x-a": "one", "X-A": "one", "X-AB": "ab", "X": "", "x-empty": "",
		"X-Absent": "", "content-length": "0"} {
		if got := resp.Header(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestTLSVerifiesTheEngineAndReusesItsConnection(t *testing.T) {
	addresses := make(chan string, 3)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses <- r.RemoteAddr
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	cfg := s.Client().Transport.(*http.Transport).TLSClientConfig
	c := dialUp(t, Config{URL: s.URL, TLS: func() *tls.Config { return cfg }})
	for _, body := range []string{"first", strings.Repeat("x", 100_000)} {
		if _, got, err := exchange(c, post(body)); err != nil || got != body {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	if a, b := <-addresses, <-addresses; a != b {
		t.Errorf("two connections: %s, %s", a, b)
	}
	if _, _, err := exchange(dialUp(t, Config{URL: s.URL}), post("x")); !errors.Is(err, ErrConnect) {
		t.Errorf("an unknown certificate: %v", err)
	}
}

func TestUnusableConfigsAreRefused(t *testing.T) {
	for _, url := range []string{"", "ftp://h", "http://", "http://:80", "h:80", "http://u:p@h", "http://h/?q",
		"http://h/#f", "http://\x01", "http://h h/"} {
		if _, err := New(Config{URL: url}); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for url, want := range map[string]string{
		"http://h": "h:80", "https://h": "h:443", "http://[::1]:8000/a/": "[::1]:8000",
		"https://10.0.0.1:8443": "10.0.0.1:8443",
	} {
		if c, err := New(Config{URL: url}); err != nil || c.at.address != want {
			t.Errorf("%q: %v %v", url, c, err)
		}
	}
}
