package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"octet/internal/http1/server"
)

// A Server stands where net/http's would: same handler, same Serve, Shutdown and Close.
func ExampleServer() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := &server.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s has no use for a second goroutine", r.URL.Path)
		}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	ended := make(chan error)
	go func() { ended <- s.Serve(l) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/a-request")
	if err != nil {
		panic(err)
	}
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, string(body))
	_ = s.Close()
	fmt.Println(<-ended)
	// Output:
	// 200 OK /a-request has no use for a second goroutine
	// http: Server closed
}
