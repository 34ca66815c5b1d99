package client

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"octet/internal/http1/lifetime"
)

// instant is an engine that answers each request at once with text, and costs next to nothing itself: it knows how long
// the requests are.
func instant(b *testing.B, bodySize int, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerAll(c, bodySize, []byte(text))
		}
	}()
	b.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String()
}

func answerAll(c net.Conn, bodySize int, text []byte) {
	defer c.Close()
	r := bufio.NewReaderSize(c, 128<<10)
	for {
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := r.Discard(bodySize); err != nil {
			return
		}
		if _, err := c.Write(text); err != nil {
			return
		}
	}
}

const unary = "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: uvicorn\r\n" +
	"Content-Type: application/json\r\nContent-Length: 300\r\n\r\n"

// BenchmarkExchange is a request of a given size and a short unary answer; net/http's Transport does the same beside
// it.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"1KB", 1 << 10}, {"16KB", 16 << 10}, {"64KB", 64 << 10}} {
		url := instant(b, size.bytes, unary+strings.Repeat("x", 300))
		body := bytes.Repeat([]byte("y"), size.bytes)
		b.Run(size.name+"/octet", func(b *testing.B) { exchangeOctet(b, url, body) })
		b.Run(size.name+"/nethttp", func(b *testing.B) { exchangeNetHTTP(b, url, body) })
	}
}

func exchangeOctet(b *testing.B, url string, body []byte) {
	c := dialUp(b, Config{URL: url})
	r := &Request{Method: "POST", Path: "/v1/completions", Segments: [][]byte{body},
		RequestID: "0123456789abcdef"}
	ctx := new(lifetime.Context) // as the gateway's are
	ctx.Begin(context.Background())
	defer ctx.Cancel(nil)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := c.Do(ctx, r)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = resp.next()
		}
		_ = resp.Close()
	}
}

func exchangeNetHTTP(b *testing.B, url string, body []byte) {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	into := make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		r, _ := http.NewRequestWithContext(ctx, "POST", url+"/v1/completions", bytes.NewReader(body))
		r.Header["Content-Type"] = []string{"application/json"}
		r.Header["X-Request-Id"] = []string{"0123456789abcdef"}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = resp.Body.Read(into)
		}
		_ = resp.Body.Close()
	}
}

// BenchmarkNext is one event of a chunked stream, as the relay takes it: from memory, so without system calls.
func BenchmarkNext(b *testing.B) {
	event := []byte("c8\r\ndata: " + strings.Repeat("x", 192) + "\n\n\r\n")
	c := dialUp(b, Config{URL: "http://h", MaxIdle: -1, Dial: func(context.Context) (net.Conn, error) {
		return &endless{script: script{text: []byte(chunking), n: 1 << 20}, event: bytes.Repeat(event, 16)}, nil
	}})
	resp, err := c.Do(context.Background(), &Request{Method: "GET", Path: "/"})
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := resp.next(); err != nil {
			b.Fatal(err)
		}
		_ = resp.buffered()
	}
}

// endless is a connection on which events follow the head for ever.
type endless struct {
	script
	event []byte
}

func (e *endless) Read(b []byte) (int, error) {
	if n, err := e.script.Read(b); err != io.EOF {
		return n, err
	}
	return copy(b, e.event), nil
}
