//go:build linux

package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// startCase is an answer that is begun in either of two ways.
type startCase struct {
	request string
	length  int64
	pieces  []string
	flush   bool
	status  int
}

func (c startCase) answer(w http.ResponseWriter, direct bool) {
	if direct {
		w.(*Answer).Start(c.status, c.length,
			[]byte("Content-Type: application/json\r\nX-Method: GET\r\nX-SLO-Window: 5m\r\n"))
	} else {
		h := w.Header()
		h["Content-Type"], h["X-Method"], h["X-SLO-Window"] = []string{"application/json"}, []string{"GET"},
			[]string{"5m"}
		if c.length >= 0 {
			h["Content-Length"] = []string{fmt.Sprint(c.length)}
		}
		w.WriteHeader(c.status)
	}
	for _, p := range c.pieces {
		_, _ = io.WriteString(w, p)
		if c.flush {
			w.(http.Flusher).Flush()
		}
	}
}

// An answer whose handler has its fields as they are sent is the answer of a handler that sets them in a header.
func TestStartSendsWhatAHeaderWouldHaveSent(t *testing.T) {
	short, long := "{}", strings.Repeat("0123456789abcdef", outSize/8)
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
	} {
		for _, c := range []startCase{
			{length: 2, pieces: []string{short}}, {length: -1, pieces: []string{short}},
			{length: -1, pieces: []string{short, short}, flush: true},
			{length: int64(len(long)), pieces: []string{long}}, {length: -1, pieces: []string{short, long}},
			{length: 4, pieces: []string{short, short}, flush: true},
			{length: -1}, {length: 0}, {length: 3, pieces: []string{short}}, {length: 1, pieces: []string{short}},
			{length: 2, pieces: []string{short}, status: 429},
		} {
			c.request, c.status = request, max(c.status, 200)
			var got [2]string
			for i := range got {
				address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
					_ *http.Request) {
					c.answer(w, i == 1)
				})})
				nc := dial(t, address)
				fmt.Fprint(nc, request, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				out, err := io.ReadAll(nc)
				if err != nil {
					t.Fatal(err)
				}
				all, left := replies([]byte(strings.ReplaceAll(string(out), "X-Method: GET", "X-Method: "+request[:4])))
				got[i] = fmt.Sprintf("%+v, and %q", all, left)
			}
			if diff := cmp.Diff(got[0], got[1]); diff != "" || !strings.Contains(got[1], "X-SLO-Window: 5m") {
				t.Errorf("%q, %+v (-header +start):\n%s", request, c, diff)
			}
		}
	}
}

func TestAnAnswerBeginsOnce(t *testing.T) {
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		w.(*Answer).Start(http.StatusOK, 1, nil)
		_, _ = io.WriteString(w, "tea")
	})})
	resp, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusTeapot || string(body) != "tea" || err != nil {
		t.Errorf("%d %q %v", resp.StatusCode, body, err)
	}
}
