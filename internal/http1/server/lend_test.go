package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
)

// Bodies of all lengths, in pieces and in pipelines, are whole where they are lent, and stay what they are until the
// handler returns; what goes on after it holds nothing of them.
func TestLentBodiesAreWholeUntilTheirHandlerReturns(t *testing.T) {
	lent := 0
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := w.(*Answer)
		body, ok := from.Lend()
		if ok {
			lent++
			if _, again := from.Lend(); again {
				t.Error("one body was lent twice")
			}
		} else {
			body, _ = io.ReadAll(r.Body)
		}
		copied := bytes.Clone(body)
		if n, err := r.Body.Read(make([]byte, 8)); n != 0 || err != io.EOF {
			t.Error(n, err)
		}
		answer := func() {
			w.Header().Set("Content-Length", fmt.Sprint(len(copied)))
			_, _ = w.Write(copied)
		}
		if r.Header.Get("X-Later") != "" {
			w.(*Answer).Detach(func() bool { answer(); return true })
			return
		}
		answer()
		if !bytes.Equal(body, copied) {
			t.Error("a lent body was changed")
		}
	})})
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	bodies := make(chan []byte, 64)
	go func() {
		defer close(bodies)
		var out []byte
		for i := range 400 {
			body := make([]byte, rng.IntN([]int{40, 5 << 10, 30 << 10, 200 << 10}[rng.IntN(4)]))
			for j := range body {
				body[j] = byte(rng.Uint32())
			}
			later := ""
			if i%5 == 0 {
				later = "X-Later: 1\r\n"
			}
			out = append(fmt.Appendf(out, "POST / HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n", later,
				len(body)), body...)
			bodies <- body
			if rng.IntN(3) == 0 {
				continue // with the next one
			}
			for len(out) > 0 {
				n := min(len(out), 1+rng.IntN(100<<10))
				_, _ = nc.Write(out[:n])
				out = out[n:]
			}
		}
		_, _ = nc.Write(out)
	}()
	from := bufio.NewReader(nc)
	for want := range bodies {
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes of %d came back, or others: %v", len(got), len(want), err)
		}
	}
	if lent == 0 {
		t.Error("no body was lent")
	}
}

// A connection that sends little holds little, whatever it held before.
func TestAPartOfAHeadHoldsNoWidePage(t *testing.T) {
	c := new(conn)
	c.server, c.large = new(Server), true
	copy(c.room(), "POST")
	c.w = 4
	if c.wide == nil {
		t.Fatal("no wide page after a large request")
	}
	c.nc, _ = net.Pipe()
	defer c.nc.Close()
	if !c.park() || c.wide != nil || string(c.buf[c.r:c.w]) != "POST" {
		t.Errorf("%q lies in a page of %d", c.buf[c.r:c.w], len(c.buf))
	}
}
