package front

import (
	"crypto/tls"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/internal/await"
	"octet/internal/certs"
	"octet/internal/tlstest"
)

// idleConnections is how many connections BenchmarkIdleConnections holds, if the process may open two files for each.
const idleConnections = 20_000

// BenchmarkIdleConnections reports what a connection holds that has been answered and waits: heap and stacks of this
// process, so of both ends of it.
func BenchmarkIdleConnections(b *testing.B) {
	n := idleConnections
	if files := openFiles(); files > 0 && files < 2*n+200 {
		n = (files - 200) / 2
	}
	for _, kind := range []string{string(Octet), string(NetHTTP), "tls"} {
		b.Run(kind+"/connections="+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				each := heldByIdle(b, kind, n)
				b.ReportMetric(float64(each), "B/conn")
			}
		})
	}
}

// heldByIdle opens n connections, has a request answered on each, and returns what each holds in bytes.
func heldByIdle(b *testing.B, kind string, n int) int64 {
	b.Helper()
	cfg := config(Kind(strings.Replace(kind, "tls", string(NetHTTP), 1)), Limits{})
	cfg.Limits.HeaderTimeout, cfg.Limits.KeepaliveTimeout = time.Minute, time.Hour
	dial := func(address string) (net.Conn, error) { return net.Dial("tcp", address) }
	if kind == "tls" {
		ca := tlstest.New(b)
		source, err := certs.Open(certs.Files{Cert: ca.CertFile, Key: ca.KeyFile})
		if err != nil {
			b.Fatal(err)
		}
		cfg.TLS = source.Server()
		client := &tls.Config{RootCAs: ca.Roots, ServerName: "127.0.0.1"}
		dial = func(address string) (net.Conn, error) { return tls.Dial("tcp", address, client) }
	}
	s := Data(cfg, http.NotFoundHandler())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // it ends with Close
	}()
	before, all := inUse(), make([]net.Conn, 0, n)
	answer := make([]byte, 4096)
	for range n {
		nc, err := dial(l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, nc)
		if _, err := nc.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			b.Fatal(err)
		}
		if _, err := nc.Read(answer); err != nil {
			b.Fatal(err)
		}
	}
	if got := s.Connections(); got != n {
		b.Errorf("%d connections of %d are open", got, n)
	}
	each := (inUse() - before) / int64(n)
	for _, nc := range all {
		_ = nc.Close()
	}
	await.True(b, "none is left", func() bool { return s.Connections() == 0 })
	if err := s.Close(); err != nil {
		b.Error(err)
	}
	<-done
	return each
}

// inUse returns the bytes of heap and stacks that are in use.
func inUse() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
