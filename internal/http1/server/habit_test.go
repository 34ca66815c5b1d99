package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
)

// What the server itself makes of a head is made of each of many that are alike: nothing of the ones before stays.
func TestHeadsThatAreAlikeAreEachReadAsTheFirst(t *testing.T) {
	for name, request := range map[string]string{
		"plain":  "GET / HTTP/1.1\r\nHost: a\r\nX-Intent: %d\r\n\r\n",
		"pragma": "GET / HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\nX-Intent: %d\r\n\r\n",
		"trailer": "POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-T\r\nX-Intent: %d\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n0\r\n\r\n",
		"both": "POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-T\r\nPragma: no-cache\r\nX-Intent: " +
			"%d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		var seen []string
		address := serve(t, &Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			seen = append(seen, fmt.Sprint(r.Header["Pragma"], r.Header["Cache-Control"], r.Header["X-Intent"],
				len(r.Header)))
		})})
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		from := bufio.NewReader(nc)
		for range 6 {
			_, _ = fmt.Fprintf(nc, request, 7)
			resp, err := http.ReadResponse(from, nil)
			if err != nil {
				t.Fatal(name, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		if slices.ContainsFunc(seen, func(s string) bool { return s != seen[0] }) {
			t.Errorf("%s: %q", name, seen)
		}
		_ = nc.Close()
	}
}
