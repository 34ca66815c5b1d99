//go:build linux

package server

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// BenchmarkFront is one request and its answer of a kilobyte each, on one of 16 connections in turn: ours beside
// net/http, with the timeouts that the gateway sets. The client writes bytes and counts bytes.
func BenchmarkFront(b *testing.B) {
	for name, serve := range map[string]func(net.Listener, http.Handler) io.Closer{
		"octet": func(l net.Listener, h http.Handler) io.Closer {
			s := &Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
				WriteTimeout: 30 * time.Second}
			go func() { _ = s.Serve(l) }()
			return s
		},
		"nethttp": func(l net.Listener, h http.Handler) io.Closer {
			s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
				WriteTimeout: 30 * time.Second}
			go func() { _ = s.Serve(l) }()
			return s
		},
	} {
		b.Run(name, func(b *testing.B) { benchFront(b, serve) })
	}
}

func benchFront(b *testing.B, serve func(net.Listener, http.Handler) io.Closer) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	room := make(chan []byte, 1)
	room <- make([]byte, 4<<10)
	s := serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := <-room
		n, _ := io.ReadFull(r.Body, buf)
		h := w.Header()
		h["Content-Type"] = plainType
		h["Content-Length"] = kilobyte
		_, _ = w.Write(buf[:n])
		room <- buf
	}))
	defer s.Close()
	request := fmt.Appendf(nil,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example:8080\r\nUser-Agent: bench\r\nAccept: "+
			"application/json\r\n"+
			"Content-Type: application/json\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Length: "+
			"1024\r\n\r\n%s",
		bytes.Repeat([]byte("x"), 1024))
	var conns [16]net.Conn
	for i := range conns {
		conns[i] = dial(b, l.Addr().String())
		_ = conns[i].SetDeadline(time.Time{})
	}
	answer := make([]byte, 4<<10)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		nc := conns[i%len(conns)]
		if _, err := nc.Write(request); err != nil {
			b.Fatal(err)
		}
		for n := 0; n < 1024 || !bytes.Contains(answer[:n], []byte("\r\n\r\n")) ||
			n < bytes.Index(answer[:n], []byte("\r\n\r\n"))+4+1024; {
			m, err := nc.Read(answer[n:])
			if err != nil {
				b.Fatal(err)
			}
			n += m
		}
	}
}

var (
	plainType = []string{"text/plain"}
	kilobyte  = []string{"1024"}
)
