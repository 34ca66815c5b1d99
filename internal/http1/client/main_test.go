package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the engine's side of one connection.
type peer struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

// request reads one request, with net/http as the judge of its form. Nil when the connection ends.
func (p *peer) request() *http.Request {
	r, err := http.ReadRequest(p.r)
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Errorf("request body: %v", err)
	}
	r.Body = io.NopCloser(&fixed{body})
	return r
}

type fixed struct{ rest []byte }

func (f *fixed) Read(b []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (p *peer) say(text string) { _, _ = io.WriteString(p, text) }

// reset ends the connection with RST in place of FIN.
func (p *peer) reset() {
	_ = p.Conn.(*net.TCPConn).SetLinger(0)
	_ = p.Close()
}

// listen serves connections by script on a free port until the test ends, and returns the URL.
func listen(t *testing.T, script func(*peer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				script(&peer{Conn: c, t: t, r: bufio.NewReader(c)})
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// dialUp returns a Client for url that is closed with the test.
func dialUp(t testing.TB, cfg Config) *Client {
	t.Helper()
	cfg.Agent, cfg.ContentType = "octet", "application/json"
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// each answers every request of a connection with text.
func each(text string) func(*peer) {
	return func(p *peer) {
		for p.request() != nil {
			p.say(text)
		}
	}
}

func post(body string) *Request {
	return &Request{Method: "POST", Path: "/v1/completions", Segments: [][]byte{[]byte(body)},
		HeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second}
}

// exchange is one whole exchange: status, body and how it ended.
func exchange(c *Client, r *Request) (status int, body string, err error) {
	resp, err := c.Do(context.Background(), r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Close()
	body, err = drain(resp)
	return resp.Status(), body, err
}

// drain reads the body; nil for a proper end.
func drain(resp *Response) (string, error) {
	var body []byte
	for {
		piece, err := resp.next()
		body = append(body, piece...)
		if errors.Is(err, io.EOF) {
			return string(body), nil
		}
		if err != nil {
			return string(body), err
		}
	}
}

func (c *Client) idleCount() int {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	return c.pool.count
}

// bottom is the connection that was idle longest; nil when there is none.
func (c *Client) bottom() *conn {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	var last *conn
	for cn := c.pool.top; cn != nil; cn = cn.below {
		last = cn
	}
	return last
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
