package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// stricter are the reasons for which we refuse what net/http accepts. Nothing else may differ, and nothing may differ
// the other way round.
//
// net/http takes a bare LF for the end of a head's line, folds header lines, lets a field name end in spaces, takes any
// number for a status and any version, lets Transfer-Encoding win over Content-Length and ignores it in HTTP/1.0; it
// skips an odd trailer and has no bound on the number of lines. Each is a way to read one stream of bytes as two
// different answers.
var stricter = []string{
	"bare LF in the head", "bad status line", "unknown HTTP version", "not an HTTP/1 answer", "bad header line",
	"Content-Length beside Transfer-Encoding", "Transfer-Encoding in HTTP/1.0", "bad trailer", "bad chunk framing",
	"header lines", "switched protocols", "too many informational", "unsupported Transfer-Encoding",
	"head over", "chunk extension over", "trailer over",
}

// script is a connection on which the engine says text, n bytes at a time, and ends.
type script struct {
	net.Conn
	text []byte
	n    int
}

func (s *script) Read(b []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), s.n)], s.text)
	s.text = s.text[n:]
	return n, nil
}
func (s *script) Write(b []byte) (int, error)      { return len(b), nil }
func (s *script) Close() error                     { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// compared are the fields that the outcomes are compared in.
var compared = []string{"Content-Type", "Retry-After", "X-Request-Id", "A"}

// outcome is what a client makes of a stream of bytes.
type outcome struct {
	status int
	header func(string) string
	body   []byte
	err    error
}

func ours(text []byte, n int) (o outcome) {
	c, _ := New(Config{URL: "http://h", MaxIdle: -1,
		Dial: func(context.Context) (net.Conn, error) { return &script{text: text, n: n}, nil }})
	resp, err := c.Do(context.Background(), &Request{Method: "GET", Path: "/"})
	if err != nil {
		return outcome{err: err}
	}
	defer resp.Close()
	body, err := drain(resp)
	seen := map[string]string{} // before Close
	for _, name := range compared {
		seen[name] = resp.Header(name)
	}
	return outcome{resp.Status(), func(name string) string { return seen[name] }, []byte(body), err}
}

// theirs skips informational answers as net/http's Transport does.
func theirs(text []byte) (o outcome) {
	r := bufio.NewReader(bytes.NewReader(text))
	req := &http.Request{Method: "GET"}
	for {
		resp, err := http.ReadResponse(r, req)
		if err != nil {
			return outcome{err: err}
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != 101 {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		return outcome{resp.StatusCode, resp.Header.Get, body, err}
	}
}

func compare(t *testing.T, text []byte, n int) {
	t.Helper()
	a, b := ours(text, n), theirs(text)
	if a.err == nil && b.err != nil {
		if strings.Contains(b.err.Error(), "too much non-data") ||
			strings.Contains(b.err.Error(), "suspiciously long trailer") {
			return // net/http's bounds on what is no body differ from ours
		}
		t.Fatalf("%q: accepted as %d %q, net/http says %v", text, a.status, a.body, b.err)
	}
	if a.err != nil && b.err == nil {
		for _, reason := range stricter {
			if strings.Contains(a.err.Error(), reason) {
				return
			}
		}
		t.Fatalf("%q: refused (%v), net/http says %d %q", text, a.err, b.status, b.body)
	}
	if a.err != nil {
		if errors.Is(a.err, ErrConnect) {
			t.Fatalf("%q: %v after the request was sent", text, a.err)
		}
		return
	}
	if a.status != b.status || !bytes.Equal(a.body, b.body) {
		t.Fatalf("%q: %d %q, net/http says %d %q", text, a.status, a.body, b.status, b.body)
	}
	for _, name := range compared {
		if got, want := a.header(name), b.header(name); got != want {
			t.Fatalf("%q: %s is %q, net/http says %q", text, name, got, want)
		}
	}
}

var answers = []string{
	ok, counting + "0123456789", chunking + "5\r\nhello\r\n0\r\n\r\n", chunking + "5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
	"HTTP/1.0 200 OK\r\n\r\nuntil close", "HTTP/1.1 204 No Content\r\n\r\n",
	"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n",
	"HTTP/1.1 100 Continue\r\n\r\n" + ok, "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 429 Too Many\r\nRetry-After:  7 \r\nretry-after: 8\r\nContent-Type: " +
		"application/json\r\nContent-Length: 2\r\n\r\n{}",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length:2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nx",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
	"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nA\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: \xff\r\n\r\n", "HTTP/1.1 000 OK\r\n\r\n", "HTTP/1.1 999 OK\r\n\r\n",
	"HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\n\r\n", chunking + "5\nhello\r\n0\r\n\r\n",
	chunking + "5 \r\nhello\r\n0\r\n\r\n", chunking + " 5\r\nhello\r\n0\r\n\r\n", chunking + "5\r\nhello\n\n0\r\n\r\n",
	chunking + "5\r\nhello\r\n0\r\n\n", chunking + "5\r\nhello\r\n0\r\nA : b\r\n\r\n",
	chunking + "ffffffffffffffff\r\nx", chunking + "1;\x00\r\nx\r\n0\r\n\r\n", "", "\r\n", "HTTP", "garbage",
}

func TestTheParserAgreesWithNetHTTPByteForByte(t *testing.T) {
	for _, text := range answers {
		for n := 1; n <= len(text)+1; n++ {
			compare(t, []byte(text), n)
		}
	}
}

// Every answer, cut off at every byte: either both see the end or both miss it.
func TestTruncationIsSeenWhereNetHTTPSeesIt(t *testing.T) {
	for _, text := range answers {
		for end := range len(text) {
			compare(t, []byte(text)[:end], 1000)
		}
	}
}

func FuzzTheParserAgreesWithNetHTTP(f *testing.F) {
	for i, text := range answers {
		f.Add([]byte(text), uint16(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, n uint16) { compare(t, text, int(n)+1) })
}
