//go:build linux

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/internal/http1/poll"
)

// loops are the loops of one test.
func loops(t *testing.T) *poll.Loops {
	l := new(poll.Loops)
	t.Cleanup(l.Close)
	return l
}

var errPaused = errors.New("paused")

func pausing() error { return errPaused }

// ridden reads an answer by Feed up to its first pause, and then by Carry: what a loop leaves is fed again.
func ridden(t *testing.T, resp *Response) (body string, rides int, err error) {
	t.Helper()
	resp.SetIdle(time.Minute)
	piece := func(p []byte) error {
		if len(p) == 0 {
			return errors.New("an empty piece")
		}
		body += string(p)
		return nil
	}
	for {
		if err = resp.Feed(sink{piece, pausing}); err != errPaused {
			return body, rides, err
		}
		end := make(chan error)
		if !resp.Carry(sink{take: piece}, func(why error) { go func() { end <- why }() }) {
			t.Fatal("not carried")
		}
		rides++
		if err = <-end; err != nil {
			return body, rides, err
		}
	}
}

// However an answer ends, Carry says what Next says, and a connection that can be used again is.
func TestCarrySaysWhatNextSays(t *testing.T) {
	for name, c := range map[string]struct {
		say  []string
		rst  bool
		want error
	}{
		"whole":       {[]string{chunking + "5\r\nhello\r\n", "6\r\n world\r\n0\r\n\r\n"}, false, io.EOF},
		"counted":     {[]string{counting + "01234", "56789"}, false, io.EOF},
		"until close": {[]string{"HTTP/1.0 200 OK\r\n\r\nhello", " world"}, false, io.EOF},
		"larger than a page": {[]string{chunking + "5\r\nhello\r\n", "11170\r\n" + strings.Repeat("0123456789", 7000),
			"\r\n0\r\n\r\n"}, false, io.EOF},
		"a burst": {[]string{chunking + "5\r\nhello\r\n",
			"111700\r\n" + strings.Repeat("0123456789abcdef", 70000), "\r\n", "5\r\nhello\r\n", "0\r\n\r\n"}, false,
			io.EOF},
		"cut within a chunk":   {[]string{chunking + "5\r\nhello\r\n", "9\r\n wor"}, false, ErrReset},
		"cut between chunks":   {[]string{chunking + "5\r\nhello\r\n", "6\r\n world\r\n"}, false, ErrReset},
		"cut within a count":   {[]string{counting + "0123"}, false, ErrReset},
		"reset":                {[]string{chunking + "5\r\nhello\r\n"}, true, ErrReset},
		"bad framing":          {[]string{chunking + "5\r\nhello\r\n", "5\r\nworldXX"}, false, ErrProtocol},
		"byte for byte":        {strings.Split(chunking+"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", ""), false, io.EOF},
		"framing in two reads": {[]string{chunking + "5\r\nhello\r", "\n6\r\n world\r\n0\r", "\n\r\n"}, false, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			cl := dialUp(t, Config{Loops: loops(t), URL: listen(t, func(p *peer) {
				for p.request() != nil {
					for _, s := range c.say {
						p.say(s)
						time.Sleep(2 * time.Millisecond) // real time: what is said comes in several reads
					}
					if c.rst {
						p.reset()
						return
					}
					if c.want != io.EOF || strings.Contains(c.say[0], "1.0") {
						return
					}
				}
			})})
			first, err := cl.Do(context.Background(), post("{}"))
			if err != nil {
				t.Fatal(err)
			}
			wantBody, wantErr := drain(first)
			_ = first.Close()
			idle := cl.idleCount()
			second, err := cl.Do(context.Background(), post("{}"))
			if err != nil {
				t.Fatal(err)
			}
			body, rides, err := ridden(t, second)
			_ = second.Close()
			if !errors.Is(err, c.want) || wantErr != nil && !errors.Is(wantErr, c.want) || body != wantBody && !c.rst ||
				rides == 0 {
				t.Errorf("carried %d bytes in %d rides, %v; by Next %d bytes, %v", len(body), rides, err, len(wantBody),
					wantErr)
			}
			if got := cl.idleCount(); got != idle {
				t.Errorf("%d connections can be used again, want %d", got, idle)
			}
		})
	}
}

// Many streams on one loop, cut anywhere, each get their own.
func TestEveryCarriedStreamGetsItsOwn(t *testing.T) {
	cl := dialUp(t, Config{Loops: loops(t), URL: listen(t, func(p *peer) {
		r := p.request()
		seed := uint64(r.ContentLength)
		rng := rand.New(rand.NewPCG(seed, 1))
		text := chunking
		for i := range 200 {
			event := fmt.Sprintf("data: stream %d event %d %s\n\n", seed, i, strings.Repeat("x", rng.IntN(100)))
			text += fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
		}
		text += "0\r\n\r\n"
		for len(text) > 0 {
			n := min(len(text), 1+rng.IntN(700))
			p.say(text[:n])
			text = text[n:]
			// real time: what is said comes in several reads
			time.Sleep(time.Duration(rng.IntN(300)) * time.Microsecond)
		}
	})})
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			resp, err := cl.Do(context.Background(), post(strings.Repeat("x", 2+n)))
			if err != nil {
				t.Error(err)
				return
			}
			body, _, err := ridden(t, resp)
			_ = resp.Close()
			if err != io.EOF || strings.Count(body, fmt.Sprintf("data: stream %d event ", 2+n)) != 200 ||
				strings.Count(body, "data:") != 200 {
				t.Errorf("stream %d: %d bytes, %v", 2+n, len(body), err)
			}
		})
	}
	all.Wait()
}

// The end of the context ends a carried answer at once, before it is carried, while it is, and as it is handed over.
func TestTheEndOfTheContextEndsACarriedAnswer(t *testing.T) {
	cl := dialUp(t, Config{Loops: loops(t), URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking + "5\r\nhello\r\n")
		p.request() // until it is closed
	})})
	for n := range 200 {
		ctx, cancel := context.WithCancelCause(context.Background())
		resp, err := cl.Do(ctx, patient(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Duration(n*5) * time.Microsecond) // real time: the hang-up falls anywhere
			cancel(errGone)
		}()
		end := make(chan error, 1)
		err = resp.Feed(sink{pause: pausing})
		if err == errPaused && resp.Carry(sink{}, func(why error) { end <- why }) {
			select {
			case err = <-end:
			case <-time.After(5 * time.Second):
				t.Fatal("it goes on")
			}
		} else if err == errPaused {
			_, err = drain(resp)
		}
		if !errors.Is(err, errGone) {
			t.Fatal(err)
		}
		_ = resp.Close()
	}
	if cl.idleCount() != 0 {
		t.Error("a connection was kept")
	}
}

func TestACarriedAnswerThatFallsSilentEnds(t *testing.T) {
	cl := dialUp(t, Config{Loops: loops(t), URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking + "5\r\nhello\r\n")
		p.request()
	})})
	resp, err := cl.Do(context.Background(), patient(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	end := make(chan error, 1)
	_ = resp.Feed(sink{pause: pausing})
	resp.SetIdle(2 * parts * poll.Sweep)
	began := time.Now()
	if !resp.Carry(sink{}, func(why error) { end <- why }) {
		t.Fatal("not carried")
	}
	if err := <-end; !errors.Is(err, ErrTimeout) || time.Since(began) < resp.idle {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if _, again := resp.next(); !errors.Is(again, ErrTimeout) {
		t.Error(again)
	}
}

// A short idle timeout is kept to: a loop's would strike late.
func TestAnAnswerWhoseIdleTimeoutIsShortIsNotCarried(t *testing.T) {
	cl := dialUp(t, Config{Loops: loops(t), URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking + "5\r\nhello\r\n")
		p.request()
	})})
	resp, err := cl.Do(context.Background(), patient(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	_ = resp.Feed(sink{pause: pausing})
	if resp.Carry(sink{}, nil) {
		t.Error("carried")
	}
}
