package front

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

type passing interface {
	http.ResponseWriter
	Pass(p []byte) error
	FlushError() error
}

// What is passed arrives, between what is written and after it, however slowly the client reads; to HTTP/1.0, too.
func TestWhatIsPassedArrivesInOrder(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		var want bytes.Buffer
		address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			rng := rand.New(rand.NewPCG(1, 2))
			to := w.(passing)
			for range 3000 {
				p := bytes.Repeat([]byte{'a' + byte(rng.IntN(26))}, rng.IntN([]int{20, 300, outSize + 20, 3 * outSize}[rng.IntN(4)]))
				want.Write(p)
				if rng.IntN(4) == 0 {
					_, _ = to.Write(p)
				} else if err := to.Pass(p); err != nil {
					t.Error(err)
				}
			}
			for n := range outSize + 20 {
				want.Write(want.Bytes()[:n])
				_ = to.Pass(want.Bytes()[:n])
			}
		})})
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(nc, "GET / HTTP/"+version+"\r\nHost: h\r\n\r\n")
		time.Sleep(20 * time.Millisecond) // and the socket is full
		resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("HTTP/%s: %d bytes of %d came, or others: %v", version, len(got), want.Len(), err)
		}
		_ = nc.Close()
	}
}

// Who does not read for as long as the deadline gets no more, and who has left ends the request's context.
func TestPassSaysThatItsClientIsSlowOrGone(t *testing.T) {
	failed := make(chan error)
	var gone bool
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		for end := time.Now().Add(5 * time.Second); err == nil && time.Now().Before(end); {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
			err = w.(passing).Pass(make([]byte, outSize/2))
		}
		gone = r.Context().Err() != nil
		failed <- err
	})})
	for _, leaves := range []bool{false, true} {
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(nc, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		if leaves {
			_ = nc.(*net.TCPConn).SetLinger(0)
			_ = nc.Close()
		}
		if err := <-failed; err == nil || gone != leaves {
			t.Errorf("leaves %v: %v, and the context has ended: %v", leaves, err, gone)
		}
		_ = nc.Close()
	}
}

func TestChunksOfEverySizeOfAPageAreFramed(t *testing.T) {
	for n := 1; n <= outSize-chunkRow; n++ {
		p := make([]byte, n)
		b := appendChunk(nil, p)
		if want := strconv.FormatInt(int64(n), 16) + "\r\n" + string(p) + "\r\n"; string(b) != want {
			t.Fatalf("%d bytes: %q", n, b[:8])
		}
	}
}
