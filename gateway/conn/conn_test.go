package conn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/internal/http1/server"
)

// listening is what both servers have.
type listening interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
}

// transports are the implementations of Conn, by the server that each is of; over is another writer around either.
var transports = map[string]struct {
	serve func(h http.Handler) listening
	over  bool
	fast  bool // what only our own server can do is done
}{
	"ours":              {serve: ours, fast: true},
	"ours, wrapped":     {serve: ours, over: true},
	"net/http":          {serve: plain},
	"net/http, wrapped": {serve: plain, over: true},
}

func ours(h http.Handler) listening  { return &server.Server{Handler: h} }
func plain(h http.Handler) listening { return &http.Server{Handler: h} }

// over is a writer around another, as middleware has one.
type over struct {
	http.ResponseWriter
	status int // it has seen
}

func (o *over) Unwrap() http.ResponseWriter { return o.ResponseWriter }
func (o *over) WriteHeader(status int) {
	o.status = status
	o.ResponseWriter.WriteHeader(status)
}

// handler is a handler that knows the connection.
type handler func(Conn, *http.Request)

// exchange sends bytes to a handler and returns all that comes back.
type exchange func(h handler, sent string) string

// each runs a test on every transport.
func each(t *testing.T, f func(t *testing.T, fast, wrapped bool, exchange exchange)) {
	for name, transport := range transports {
		if transport.fast && !server.Supported {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f(t, transport.fast, transport.over, func(h handler, sent string) string {
				done := make(chan struct{})
				s := transport.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(done)
					if !transport.over {
						h(Of(w, r), r)
						return
					}
					seen := &over{ResponseWriter: w}
					h(Of(seen, r), r)
					if seen.status == 0 && r.Header.Get("X-A") == "starts" {
						t.Error("the writer between has not seen the head")
					}
				}))
				return play(t, s, sent, done)
			})
		})
	}
}

// play sends bytes to s on one connection, and returns all that came back until it was closed.
func play(t *testing.T, s listening, sent string, done chan struct{}) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Serve(l) }()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, sent); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(nc)
	if err != nil {
		t.Error(err)
	}
	<-done
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-ended
	return string(got)
}

// post is a request with a body, and the last of its connection.
func post(body string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nX-A: b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
}

// answer takes what came apart.
func answer(t *testing.T, came string) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(came)), nil)
	if err != nil {
		t.Fatalf("%q: %v", came, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("the body: %v", err)
	}
	return resp, string(body)
}

func TestTheHeadThatIsStartedArrivesWithTheFieldsThatWereSet(t *testing.T) {
	each(t, func(t *testing.T, _, _ bool, exchange exchange) {
		for _, set := range []bool{false, true} {
			resp, body := answer(t, exchange(func(c Conn, _ *http.Request) {
				if set {
					c.Header().Set("X-Set", "before")
				}
				c.Start(http.StatusAccepted, 4, []byte("Content-Type: text/plain\r\nX-Line: one\r\n"))
				_, _ = io.WriteString(c, "body")
			}, strings.Replace(post(""), "X-A: b", "X-A: starts", 1)))
			want := map[bool]string{true: "before"}[set]
			if resp.StatusCode != http.StatusAccepted || resp.Header.Get("X-Line") != "one" ||
				resp.Header.Get("X-Set") != want || resp.ContentLength != 4 || body != "body" {
				t.Errorf("got %v %q", resp, body)
			}
		}
	})
}

func TestTheRequestsFieldsAreToldInFullOrNotAtAll(t *testing.T) {
	each(t, func(t *testing.T, fast, wrapped bool, exchange exchange) {
		exchange(func(c Conn, r *http.Request) {
			names, values, ok := c.Fields()
			if !ok {
				if fast {
					t.Error("our server does not tell the fields")
				}
				return
			}
			if at := slices.Index(names, "X-A"); at < 0 || values[at] != "b" || len(names) != len(r.Header) {
				t.Errorf("%q %q, in the map %v", names, values, r.Header)
			}
			if c.Began().IsZero() || time.Since(c.Began()) > time.Minute {
				t.Errorf("began %v", c.Began())
			}
		}, post("x"))
	})
}

// The body is had in one of two ways, and is the same.
func TestABodyIsLentOrRead(t *testing.T) {
	want := strings.Repeat("body ", 2000)
	each(t, func(t *testing.T, fast, _ bool, exchange exchange) {
		_, got := answer(t, exchange(func(c Conn, r *http.Request) {
			atHand := c.AtHand()
			body, lent := c.Lend()
			if lent && !atHand {
				t.Error("lent, and not at hand")
			}
			if !lent {
				body, _ = io.ReadAll(r.Body)
			}
			if _, again := c.Lend(); again {
				t.Error("lent twice")
			}
			_, _ = c.Write(body)
		}, post(want)))
		if got != want {
			t.Errorf("%d bytes came back", len(got))
		}
	})
}

func TestAReadThatWaitsIsInterrupted(t *testing.T) {
	each(t, func(t *testing.T, _, _ bool, exchange exchange) {
		came := exchange(func(c Conn, r *http.Request) {
			if c.AtHand() {
				t.Error("a body is at hand that was not sent")
			}
			time.AfterFunc(20*time.Millisecond, c.Interrupt)
			if _, err := io.ReadAll(r.Body); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
			c.Start(http.StatusRequestTimeout, 0, []byte("Content-Type: text/plain\r\n"))
		}, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhello")
		if resp, _ := answer(t, came); resp.StatusCode != http.StatusRequestTimeout {
			t.Errorf("got %q", came)
		}
	})
}

func TestReadsAndWritesHaveDeadlines(t *testing.T) {
	each(t, func(t *testing.T, _, _ bool, exchange exchange) {
		exchange(func(c Conn, r *http.Request) {
			if err := errors.Join(c.SetWriteDeadline(time.Now().Add(time.Minute)),
				c.SetReadDeadline(time.Now().Add(20*time.Millisecond))); err != nil {
				t.Error(err)
			}
			if _, err := io.ReadAll(r.Body); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
		}, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhello")
	})
}

// What is sent is with the client before the handler goes on: it can wait for the client's answer to it.
func TestWhatIsSentArrivesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, _, _ bool, exchange exchange) {
		_, body := answer(t, exchange(func(c Conn, _ *http.Request) {
			c.Start(http.StatusOK, -1, []byte("Content-Type: text/plain\r\n"))
			for _, part := range []string{"one ", "", "two "} {
				if err := c.Send([]byte(part)); err != nil {
					t.Error(err)
				}
			}
			_, _ = io.WriteString(c, "three")
		}, post("")))
		if body != "one two three" {
			t.Errorf("got %q", body)
		}
	})
}

// An answer goes on after its handler, is parked and resumed; or the server cannot, and says so before anything is
// called.
func TestAnAnswerGoesOnWithoutItsHandler(t *testing.T) {
	each(t, func(t *testing.T, fast, wrapped bool, exchange exchange) {
		_, body := answer(t, exchange(func(c Conn, _ *http.Request) {
			c.Start(http.StatusOK, -1, []byte("Content-Type: text/plain\r\n"))
			_ = c.Send([]byte("head "))
			if wrapped && (c.CanPark() || c.Detach(nil)) {
				t.Error("an answer is parked of which another handler does not know")
			}
			c = Bare(c)
			last := func() bool { return c.Send([]byte("end")) == nil }
			if !c.Detach(func() bool { return parked(t, c, last) }) {
				if fast {
					t.Error("our server has no answer go on")
				}
				_ = c.TrySend([]byte("parked "))
				last()
			}
		}, post("")))
		if body != "head parked end" {
			t.Errorf("got %q", body)
		}
	})
}

// parked parks an answer, sends to it and resumes it with last.
func parked(t *testing.T, c Conn, last func() bool) (over bool) {
	if !c.CanPark() {
		t.Error("it cannot be parked")
	}
	go func() {
		if err := c.TrySend([]byte("parked ")); err != nil && !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		c.Resume(last)
	}()
	return false
}

// Writers of other makes, and those around ours, see what is written.
func TestOtherWritersSeeTheHead(t *testing.T) {
	seen := &over{ResponseWriter: httptest.NewRecorder()}
	Of(seen, httptest.NewRequest("GET", "/", nil)).Start(http.StatusTeapot, -1, nil)
	Start(seen, http.StatusTeapot, -1, nil)
	if seen.status != http.StatusTeapot {
		t.Errorf("seen is %d", seen.status)
	}
}
