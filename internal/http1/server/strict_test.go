package server

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
)

// strictListener accepts connections as Strict.
type strictListener struct{ net.Listener }

func (l strictListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return NewStrict(nc, 4<<10, 32), nil
}

// serveStrict serves echo by net/http behind Strict, on loopback.
func serveStrict(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(echo)}
	go func() { _ = s.Serve(strictListener{l}) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// Requests one after the other on a connection, in whatever framing and pieces, are heard by net/http as they were
// sent.
func TestNetHTTPHearsThroughStrictWhatWasSent(t *testing.T) {
	address, draw := serveStrict(t), rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var sent strings.Builder
		var bodies []string
		for range 1 + draw.IntN(6) {
			body := strings.Repeat(string(rune('a'+draw.IntN(26))), draw.IntN(3)*draw.IntN(3000))
			bodies = append(bodies, body)
			if draw.IntN(2) == 0 {
				fmt.Fprintf(&sent, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				continue
			}
			sent.WriteString("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
			for rest := body; rest != ""; {
				n := 1 + draw.IntN(len(rest))
				fmt.Fprintf(&sent, "%X%s\r\n%s\r\n", n, []string{"", ";a=b"}[draw.IntN(2)], rest[:n])
				rest = rest[n:]
			}
			sent.WriteString("0\r\n" + []string{"", "X-After: 1\r\n"}[draw.IntN(2)] + "\r\n")
		}
		nc := dial(t, address)
		go func() {
			for rest := sent.String(); rest != ""; {
				n := 1 + draw.IntN(min(len(rest), 2000))
				_, _ = io.WriteString(nc, rest[:n])
				rest = rest[n:]
			}
		}()
		answers := bufio.NewReader(nc)
		for i, body := range bodies {
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("answer %d of %d: %v", i, len(bodies), err)
			}
			if got, err := io.ReadAll(resp.Body); err != nil || string(got) != body {
				t.Fatalf("%d bytes of %d, %v", len(got), len(body), err)
			}
		}
		nc.Close()
	}
}

// What is malformed ends: nothing behind it is taken for a request.
func TestNothingBehindAMalformedBodyIsHeard(t *testing.T) {
	address := serveStrict(t)
	const next = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, body := range map[string]string{
		"a bare line feed":     "1\na\r\n0\r\n\r\n",
		"no digits":            "\r\na\r\n0\r\n\r\n",
		"no number":            "zz\r\na\r\n0\r\n\r\n",
		"too much":             "1\r\nab\r\n0\r\n\r\n",
		"many digits":          "00000000000000001\r\na\r\n0\r\n\r\n",
		"a bare LF in trailer": "0\r\nX: y\n\r\n",
		"an endless line":      "1;" + strings.Repeat("x", 8<<10) + "\r\na\r\n0\r\n\r\n",
	} {
		nc := dial(t, address)
		go func() {
			_, _ = io.WriteString(nc, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+body+next)
		}()
		answer, _ := io.ReadAll(nc)
		if n := strings.Count(string(answer), "HTTP/1.1 "); n > 1 || strings.Contains(string(answer), " 200 ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
}
