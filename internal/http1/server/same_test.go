//go:build linux

package server

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// tell is a request as its handler hears it.
func tell(w http.ResponseWriter, r *http.Request) string {
	names, values, told := w.(*Answer).Fields()
	body, err := io.ReadAll(r.Body)
	return fmt.Sprintf("%s %s %s %s %q %v %v %q=%q length %d %v close %v form %v body %q %v", r.Method, r.RequestURI,
		r.URL, r.Proto, r.Host, r.Header, told, names, values,
		r.ContentLength, r.TransferEncoding, r.Close, r.Form, body, err)
}

// alike returns a request that is much like the others of its kind.
func alike(rng *rand.Rand) string {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	body := strings.Repeat("b", rng.IntN([]int{3, 12, 120}[rng.IntN(3)]))
	key := pick("k", "k", "k", "k", "other")
	length := fmt.Sprint(len(body))
	switch rng.IntN(20) {
	case 8, 9, 10:
		return "POST /v1/chat HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"
	case 0:
		return "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n"
	case 1:
		return "POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: k\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
	case 2:
		length = "00" + length
	case 3:
		length = " " + length + pick("", " ", "\t")
	case 4:
		return fmt.Sprintf(
			"POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: "+
				"%s\r\n\r\n%s", key, length, body)
	case 5:
		return fmt.Sprintf("POST /v1/chat HTTP/1.1\r\nHost: a\r\nContent-Length: %s\r\nAuthorization: %s\r\n\r\n%s",
			length, key, body)
	case 6:
		return fmt.Sprintf("POST /v1/chat?x=%s HTTP/1.1\r\nHost: a\r\nAuthorization: k\r\nContent-Length: %s\r\n\r\n%s",
			key, length, body)
	case 7:
		return "\r\n" + fmt.Sprintf(
			"POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: k\r\nContent-Length: %s\r\nAccept: *\r\n\r\n%s",
			length, body)
	}
	return fmt.Sprintf(
		"POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\nContent-Length: %s\r\nAccept: *\r\n\r\n%s", key,
		length, body)
}

// What is heard of each of many requests that are much alike, on one connection, in pipelines and in pieces, is what is
// heard of it alone.
func TestARequestLikeTheOneBeforeIsHeardAsIfItCameAlone(t *testing.T) {
	said := make(chan string, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said <- tell(w, r)
		r.URL.Path, r.Method, r.Form, r.Close = "/changed", "CHANGED", url.Values{}, true
	})})
	alone := map[string]string{}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		nc := dial(t, address)
		from := bufio.NewReader(nc)
		requests := []string{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"}
		for range 200 {
			request := alike(rng)
			if n := len(requests); n > 0 && strings.HasPrefix(requests[n-1], "GET") {
				// empty lines may follow a POST alone
				request = strings.TrimPrefix(request, "\r\n")
			}
			requests = append(requests, request)
		}
		for _, request := range requests {
			if _, known := alone[request]; !known {
				first := dial(t, address)
				_, _ = io.WriteString(first, strings.TrimPrefix(request, "\r\n"))
				alone[request] = within(t, "a request alone", said)
				_ = first.Close()
			}
		}
		go sendInPieces(nc, strings.Join(requests, ""), rand.New(rand.NewPCG(seed, 2)))
		for i, request := range requests {
			if got := within(t, "a request", said); got != alone[request] {
				t.Fatalf("seed %d, request %d, %q:\nheard %s\nalone %s", seed, i, request, got, alone[request])
			}
			if strings.Contains(request, "Expect") {
				if resp, err := http.ReadResponse(from, nil); err != nil || resp.StatusCode != http.StatusContinue {
					t.Fatal(seed, i, resp, err)
				}
			}
			if resp, err := http.ReadResponse(from, nil); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(seed, i, resp, err)
			}
		}
		_ = nc.Close()
	}
}

// sendInPieces sends text in pieces of random lengths.
func sendInPieces(nc net.Conn, text string, rng *rand.Rand) {
	for text != "" {
		n := min(len(text), 1+rng.IntN([]int{5, 300, 3000}[rng.IntN(3)]))
		_, _ = io.WriteString(nc, text[:n])
		text = text[n:]
	}
}

// A head that is told by comparing it is taken apart no more, and nothing of it is kept anew.
func TestARequestLikeTheOneBeforeAllocatesNothing(t *testing.T) {
	nc, _ := net.Pipe()
	c := newConn(&Server{}, nc)
	c.buf = make([]byte, 1<<10)
	head := "POST /v1/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nAccept: *\r\n\r\n"
	next := func() {
		c.r, c.w = 0, copy(c.buf, head)
		if whole, bad := c.readHead(); !whole || bad != nil || c.r != c.w {
			t.Fatal(whole, bad)
		}
	}
	for range 3 {
		next()
	}
	if n := testing.AllocsPerRun(100, next); n > 0 || c.habit.same.before == "" {
		t.Errorf("%v allocations", n)
	}
}
