package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serve runs s on a port of its own until the test ends.
func serve(t testing.TB, s *Server) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Errorf("Serve returned %v", err)
		}
		// real time: connections end by themselves
		for end := time.Now().Add(5 * time.Second); s.Connections() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d connections are left", s.Connections())
			}
		}
	})
	return l.Addr().String()
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = w.Write(body)
}

func TestRequestsOfAllSizesAreEchoedOnOneConnection(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: time.Second, IdleTimeout: time.Second}
	address := serve(t, s)
	for _, size := range []int{0, 1, 100, 4000, 4096, 16000, 16384, 20000, 300000} {
		for _, chunked := range []bool{false, true} {
			body := strings.Repeat("x", size)
			var r io.Reader = strings.NewReader(body)
			if chunked {
				r = io.MultiReader(r)
			}
			resp, err := http.Post("http://"+address+"/", "text/plain", r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if err != nil || string(got) != body {
				t.Fatalf("%d bytes, chunked %v: %d bytes, %v", size, chunked, len(got), err)
			}
			resp.Body.Close()
		}
	}
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections were used", n)
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		fmt.Fprint(w, r.URL.Path)
	})})
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	const n = 500
	go func() {
		for i := range n {
			fmt.Fprintf(nc, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
		}
	}()
	br := bufio.NewReader(nc)
	for i := range n {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if string(body) != fmt.Sprintf("/%d", i) {
			t.Fatalf("answer %d is %q", i, body)
		}
	}
}
