package client

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// Further fields go out as they are, and none that could be more or something else than one field. MOD2-43, GAIE-34
func TestFieldsOfARequestAreCheckedAndSent(t *testing.T) {
	c, err := New(Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	good := Request{Method: "POST", Path: "/",
		Fields: []Field{{Name: "X-Octet-Cache-Hint", Value: "blocks=3, tokens=48"}}}
	if err := check(&good); err != nil {
		t.Error(err)
	}
	head := string(appendHead(nil, c.open(&good), &good))
	if strings.Count(head, "\r\nX-Octet-Cache-Hint: blocks=3, tokens=48\r\n") != 1 {
		t.Errorf("%q", head)
	}
	for _, bad := range []Field{
		{Name: "X-A", Value: "b\r\nX-C: d"}, {Name: "X-A", Value: "b\x00"}, {Name: "X-A: b\r\nX-C", Value: "d"},
		{Name: "", Value: "b"}, {Name: "X-A", Value: ""},
		{Name: "Content-Length", Value: "9"}, {Name: "Transfer-Encoding", Value: "chunked"},
	} {
		r := good
		r.Fields = []Field{bad}
		if err := check(&r); !errors.Is(err, ErrRequest) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The opening that a request is sent with is its own, whichever was sent before it, and its place is taken by no other.
func TestAnOpeningIsOfItsRequestAlone(t *testing.T) {
	c, err := New(Config{URL: "http://127.0.0.1:1/base", Agent: "octet", Bearer: "house"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, method := range []string{"POST", "GET"} {
			for _, path := range []string{"/a", "/b", "/v1/chat/completions", "/v1/chat/completiont",
				"/12345678901234567"} {
				for _, bearer := range []string{"", "house", "guest"} {
					for _, accept := range []string{"", "text/event-stream"} {
						checkOpening(t, c, &Request{Method: method, Path: path, Bearer: bearer, Accept: accept})
					}
				}
			}
		}
	}
	for _, bad := range []Request{{Method: "P T", Path: "/a"}, {Method: "GET", Path: "a"},
		{Method: "GET", Path: "/a b"}, {Method: "GET", Path: "/a", Bearer: "\n"},
		{Method: "GET", Path: "/a", RequestID: "\n"}} {
		if _, err := c.openingOf(&bad); !errors.Is(err, ErrRequest) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func checkOpening(t *testing.T, c *Client, r *Request) {
	t.Helper()
	o, err := c.openingOf(r)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s /base%s HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUser-Agent: octet\r\n", r.Method, r.Path)
	if r.Accept != "" {
		want += "Accept: " + r.Accept + "\r\n"
	}
	want += "Authorization: Bearer " + cmp.Or(r.Bearer, "house") + "\r\n"
	other := *r
	other.Accept += "x"
	if o.text != want || !o.fits(r) || o.fits(&other) {
		t.Errorf("%v opens with %q", *r, o.text)
	}
	if again, _ := c.openingOf(r); again != o {
		t.Errorf("%v is opened anew", *r)
	}
}

// Numbers are written and read as strconv does.
func TestLengthsAreWrittenAndRead(t *testing.T) {
	for n, step := 0, 1; n < math.MaxInt/11; n, step = n+step, max(1, n/7) {
		if got, want := string(appendNumber(nil, n)), strconv.Itoa(n); got != want {
			t.Fatalf("%s is written as %s", want, got)
		}
	}
	for _, s := range []string{
		"", "0", "00", "9", "10", "+1", "-1", "1_0", " 1", "1a", "a", "9223372036854775807", "9223372036854775808",
		"9223372036854775809", "9223372036854775810",
		"18446744073709551615", "18446744073709551616", "18446744073709551617", "92233720368547758070",
		"99999999999999999999", "0009223372036854775807", "/", ":",
	} {
		h := head{length: -1}
		want, refused := strconv.ParseUint(s, 10, 63)
		if err := h.contentLength([]byte(s)); (err != nil) != (refused != nil) || err == nil &&
			h.length != int64(want) {
			t.Errorf("%q is read as %d: %v", s, h.length, err)
		}
	}
}
