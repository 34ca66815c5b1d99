//go:build linux

package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAHeadThatDoesNotComeInTimeIsAnswered408(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: 100 * time.Millisecond, IdleTimeout: time.Hour}
	address := serve(t, s)
	for name, before := range map[string]string{"the first": "", "a later one": "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
		nc := dial(t, address)
		answers := bufio.NewReader(nc)
		if before != "" {
			fmt.Fprint(nc, before)
			if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 200 {
				t.Fatal(resp, err)
			}
		}
		stop := make(chan bool)
		go func() { // a byte now and then buys no time
			defer close(stop)
			for _, b := range "GET / HTTP/1.1\r\nX-Slow: " + strings.Repeat("z", 1000) {
				if _, err := fmt.Fprint(nc, string(b)); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond) // real time: bytes trickle
			}
		}()
		resp, err := http.ReadResponse(answers, nil)
		if err != nil || resp.StatusCode != 408 || !resp.Close {
			t.Errorf("%s: %v %v", name, resp, err)
		}
		within(t, "the close", stop)
	}
	left(t, s, 0)
}

func TestAConnectionWithoutARequestIsClosedSilently(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: 50 * time.Millisecond,
		IdleTimeout: 100 * time.Millisecond}
	address := serve(t, s)
	for _, first := range []string{"", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
		nc := dial(t, address)
		fmt.Fprint(nc, first)
		answer, err := io.ReadAll(nc)
		if err != nil || strings.Contains(string(answer), "408") || (len(answer) == 0) != (first == "") {
			t.Errorf("%q, %v", answer, err)
		}
	}
}

// Deadlines are lazy: one that was armed for an earlier wait strikes in later ones, and must not end them.
func TestADeadlineOfOneWaitIsNotTheNextOnes(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctl := http.NewResponseController(w)
		_ = ctl.SetReadDeadline(time.Now().Add(time.Minute))
		_ = ctl.SetWriteDeadline(time.Now().Add(time.Minute))
		time.Sleep(30 * time.Millisecond) // real time: the connection's own timeout passes
		echo(w, r)
	}), ReadHeaderTimeout: 60 * time.Millisecond, IdleTimeout: time.Minute, WriteTimeout: 60 * time.Millisecond}
	nc := dial(t, serve(t, s))
	answers := bufio.NewReader(nc)
	for i := range 8 {
		fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf ")
		time.Sleep(time.Duration(i) * 20 * time.Millisecond) // real time: the body's pause, not the head's
		fmt.Fprint(nc, "half")
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "half half" || err != nil {
			t.Fatalf("answer %d: %q %v", i, body, err)
		}
	}
}

func TestABodyThatIsLateIsAnErrorOfItsReaderAlone(t *testing.T) {
	ended := make(chan error, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := io.Copy(io.Discard, r.Body)
		ended <- errors.Join(err, r.Context().Err())
		w.WriteHeader(408)
	})})
	nc := dial(t, address)
	fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf ")
	if err := within(t, "the body's end", ended); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil || resp.StatusCode != 408 || !resp.Close {
		t.Errorf("%v %v", resp, err)
	}
}

func TestAWriteTimeoutBoundsAnAnswerThatSetsNone(t *testing.T) {
	ended := make(chan error, 1)
	address := serve(t, &Server{WriteTimeout: 50 * time.Millisecond,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					ended <- err
					return
				}
			}
		})})
	fmt.Fprint(dial(t, address), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := within(t, "a failed write", ended); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}
