package front

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/internal/await"
	"octet/internal/certs"
	"octet/internal/tlstest"
)

// idleConnections is how many connections BenchmarkIdleConnections holds, if a process may open a file for each.
const idleConnections = 20_000

// idleClient is set in a process that holds the clients' ends: address, number of connections, and the authority's file
// if they speak TLS. So each process has one file for a connection.
const idleClient = "OCTET_IDLE_CLIENT"

func TestMain(m *testing.M) {
	if of := os.Getenv(idleClient); of != "" {
		if err := holdIdle(of); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// holdIdle opens connections, has a request answered on each, says so on standard output, and holds them until standard
// input ends.
func holdIdle(of string) error {
	parts := strings.Split(of, " ")
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return err
	}
	dial := func() (net.Conn, error) { return net.Dial("tcp", parts[0]) }
	if len(parts) > 2 {
		pem, err := os.ReadFile(parts[2])
		if err != nil {
			return err
		}
		client := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
		client.RootCAs.AppendCertsFromPEM(pem)
		dial = func() (net.Conn, error) { return tls.Dial("tcp", parts[0], client) }
	}
	all, answer := make([]net.Conn, 0, n), make([]byte, 4096)
	for range n {
		nc, err := dial()
		if err != nil {
			return err
		}
		all = append(all, nc)
		_, asked := nc.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		_, err = nc.Read(answer)
		if err = errors.Join(asked, err); err != nil {
			return err
		}
	}
	fmt.Println("open")
	_, err = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(all)
	return err
}

// BenchmarkIdleConnections reports what a connection holds that has been answered and waits: heap and stacks of the
// server, whose clients are another process.
func BenchmarkIdleConnections(b *testing.B) {
	n := idleConnections
	if files := openFiles(); files > 0 && files < n+100 {
		n = files - 100
		b.Logf("a process may open %d files: %d connections, not %d", files, n, idleConnections)
	}
	for _, kind := range []string{string(Octet), string(NetHTTP), "tls"} {
		b.Run(kind+"/connections="+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(heldByIdle(b, kind, n)), "B/conn")
			}
		})
	}
}

// heldByIdle has n connections opened, and returns what each holds in bytes.
func heldByIdle(b *testing.B, kind string, n int) int64 {
	b.Helper()
	cfg := config(Kind(strings.Replace(kind, "tls", string(NetHTTP), 1)), Limits{})
	cfg.Limits.HeaderTimeout, cfg.Limits.KeepaliveTimeout = time.Minute, time.Hour
	authority := ""
	if kind == "tls" {
		ca := tlstest.New(b)
		source, err := certs.Open(certs.Files{Cert: ca.CertFile, Key: ca.KeyFile})
		if err != nil {
			b.Fatal(err)
		}
		cfg.TLS, authority = source.Server(), " "+ca.CertFile
	}
	s := Data(cfg, http.NotFoundHandler())
	s.Bound(n, n) // none is kept for engines
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // it ends with Close
	}()
	before := inUse()
	leave := clientsOf(b, fmt.Sprint(l.Addr(), " ", n, authority))
	if got := s.Connections(); got != n {
		b.Errorf("%d connections of %d are open", got, n)
	}
	each := (inUse() - before) / int64(n)
	leave()
	await.True(b, "none is left", func() bool { return s.Connections() == 0 })
	if err := s.Close(); err != nil {
		b.Error(err)
	}
	<-done
	return each
}

// clientsOf starts the process of the clients, and returns once all their connections are open. leave ends it.
func clientsOf(b *testing.B, of string) (leave func()) {
	b.Helper()
	c := exec.CommandContext(b.Context(), os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), idleClient+"="+of), os.Stderr
	hold, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	said, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "open\n" {
		b.Fatalf("%q, %v", line, err)
	}
	return func() {
		_ = hold.Close() // upon which it ends
		if err := c.Wait(); err != nil {
			b.Error(err)
		}
	}
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
