package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// What is no request at all is answered in the contract's shape too.
func TestWhatIsNoRequestIsRefusedInTheContractsShape(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		t.Run(front, func(t *testing.T) {
			refusesWhatIsNoRequest(t,
				newWorld(t, smallWorld, smallEngines(), "limits.header_timeout=150ms", "limits.header_fields=16",
					"front="+front))
		})
	}
}

func refusesWhatIsNoRequest(t *testing.T, w *world) {
	const post = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
	for _, c := range []struct {
		name, head string
		status     int
		code       apierr.Code
	}{
		{"half a head", post + "X-Slow: ", 408, apierr.RequestTimeout},
		{"a head without an end", post + "X-Long: " + strings.Repeat("x", 1<<20), 431, apierr.HeaderTooLarge},
		{"many fields", post + strings.Repeat("X-Many: x\r\n", 17) + "\r\n", 431, apierr.HeaderTooLarge},
		{"no host", "GET /livez HTTP/1.1\r\n\r\n", 400, apierr.InvalidRequest},
		{"another version", "GET /livez HTTP/2.0\r\nHost: x\r\n\r\n", 505, apierr.InvalidRequest},
		{"another coding", post + "Transfer-Encoding: gzip\r\n\r\n", 501, apierr.InvalidRequest},
		{"two framings", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400,
			apierr.InvalidRequest},
		{"two lengths", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345", 400, apierr.InvalidRequest},
		{"a folded field", post + "X-Folded: a\r\n b\r\n\r\n", 400, apierr.InvalidRequest},
		{"a line feed", post + "X-Bare: a\n\r\n", 400, apierr.InvalidRequest},
		{"an expectation", post + "Expect: more\r\n\r\n", 417, apierr.InvalidRequest},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, apierr.InvalidRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := w.dial()
			go func() { _, _ = io.WriteString(conn, c.head) }()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(resp.Body)
			if err != nil || !resp.Close {
				t.Errorf("%v, close %v", err, resp.Close)
			}
			checkError(t, resp, answer, c.status, c.code, "")
		})
	}
}

// A second request hidden in the first one's body is the first one's body.
func TestASmuggledRequestIsNotHeard(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		t.Run(front, func(t *testing.T) {
			hearsNothingSmuggled(t,
				newWorld(t, smallWorld, smallEngines(), "front="+front))
		})
	}
}

func hearsNothingSmuggled(t *testing.T, w *world) {
	for name, framing := range map[string]string{
		"length":        "Content-Length: %d\r\n\r\n%s",
		"chunked":       "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
		"both":          "Content-Length: %[1]d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%[2]s",
		"spaced coding": "Transfer-Encoding : chunked\r\nContent-Length: %[1]d\r\n\r\n0\r\n\r\n%[2]s",
	} {
		conn := w.dial()
		const smuggled = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
		fmt.Fprintf(
			conn,
			"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"+
				framing, len(smuggled), smuggled)
		answer, err := io.ReadAll(conn)
		if n := strings.Count(string(answer), "HTTP/1.1 "); err != nil || n != 1 ||
			!strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			t.Errorf("%s: %d answers: %s %v", name, n, answer, err)
		}
	}
}
