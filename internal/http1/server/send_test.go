package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// What is passed arrives, between what is written and after it, however slowly the client reads; to HTTP/1.0, too.
func TestWhatIsPassedArrivesInOrder(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		var want bytes.Buffer
		address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			rng := rand.New(rand.NewPCG(1, 2))
			to := w.(*Answer)
			for range 3000 {
				p := bytes.Repeat([]byte{'a' + byte(rng.IntN(26))},
					rng.IntN([]int{20, 300, outSize + 20, 3 * outSize}[rng.IntN(4)]))
				want.Write(p)
				if rng.IntN(4) == 0 {
					_, _ = to.Write(p)
				} else if err := to.Send(p); err != nil {
					t.Error(err)
				}
			}
			for n := range outSize + 20 {
				want.Write(want.Bytes()[:n])
				_ = to.Send(want.Bytes()[:n])
			}
		})})
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(nc, "GET / HTTP/"+version+"\r\nHost: h\r\n\r\n")
		time.Sleep(20 * time.Millisecond) // real time: the socket fills
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

// A client that does not read for as long as the deadline gets no more, and one that has left ends the request's
// context.
func TestPassSaysThatItsClientIsSlowOrGone(t *testing.T) {
	failed := make(chan error)
	var gone bool
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		for end := time.Now().Add(5 * time.Second); err == nil && time.Now().Before(end); {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
			err = w.(*Answer).Send(make([]byte, outSize/2))
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

// What a socket has no room for is kept whole, cut anywhere, and goes out before all that comes after it, by whichever
// way.
func TestWhatIsTriedArrivesInOrder(t *testing.T) {
	var want bytes.Buffer
	full := 0
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		rng := rand.New(rand.NewPCG(1, 2))
		to := w.(*Answer)
		if to.CanPark() {
			t.Error("before the head is out")
		}
		_ = to.FlushError()
		for range 8000 {
			p := bytes.Repeat([]byte{'a' + byte(rng.IntN(26))}, 1+rng.IntN([]int{300, 3 * outSize}[rng.IntN(2)]))
			want.Write(p)
			if !to.CanPark() {
				t.Error("not to be tried")
			}
			err := to.TrySend(p)
			if err == nil {
				continue
			}
			full++
			if !errors.Is(err, ErrFull) || to.CanPark() {
				t.Error(err)
			}
			switch rng.IntN(3) {
			case 0:
				err = to.Send(nil)
			case 1:
				err = to.Send(p)
				want.Write(p)
			default:
				_, _ = to.Write(p)
				want.Write(p)
				err = to.FlushError()
			}
			if err != nil {
				t.Error(err)
			}
		}
		end := bytes.Repeat([]byte("end"), outSize)
		if err := to.TrySend(end); !errors.Is(err, ErrFull) { // and the server's own end behind it
			t.Error(err)
		}
		want.Write(end)
	})})
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = io.WriteString(nc, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	time.Sleep(20 * time.Millisecond) // real time: the socket fills
	resp, err := http.ReadResponse(bufio.NewReader(&slowly{nc}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, want.Bytes()) || full == 0 {
		t.Errorf("%d bytes of %d came, or others, %d times it was full: %v", len(got), want.Len(), full, err)
	}
}

// slowly has the other end wait now and then.
type slowly struct{ io.Reader }

func (s *slowly) Read(p []byte) (int, error) {
	if rand.IntN(20) == 0 {
		time.Sleep(time.Millisecond) // real time: a slow reader
	}
	return s.Reader.Read(p[:min(len(p), 20_000)])
}

// An answer without a goroutine is the same answer, and its connection serves on.
func TestAnAnswerGoesOnAgain(t *testing.T) {
	address := serve(t, &Server{IdleTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "early ")
			to := w.(*Answer)
			_ = to.FlushError()
			w.(*Answer).Detach(func() bool {
				go func() {
					_ = to.TrySend([]byte("late "))
					to.Resume(func() bool {
						go to.Resume(func() bool { return to.Send([]byte("later")) == nil })
						return false
					})
				}()
				return false
			})
		})})
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	in := bufio.NewReader(nc)
	for range 100 {
		_, _ = io.WriteString(nc, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "early late later" || err != nil {
			t.Errorf("%q %v", body, err)
		}
	}
}
