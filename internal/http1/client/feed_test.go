package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// patient is a request with an idle timeout of its own.
func patient(idle time.Duration) *Request {
	r := post("{}")
	r.IdleTimeout = idle
	return r
}

// sink calls functions; nil does nothing.
type sink struct {
	take  func([]byte) error
	pause func() error
}

func (s sink) Take(piece []byte) (more bool, err error) {
	if s.take == nil {
		return true, nil
	}
	return true, s.take(piece)
}

func (s sink) Pause() (more bool, err error) {
	if s.pause == nil {
		return true, nil
	}
	return true, s.pause()
}

// single is a sink that wants one piece at a time.
type single struct{ piece string }

func (s *single) Take(piece []byte) (more bool, err error) {
	s.piece = string(piece)
	return false, nil
}

func (*single) Pause() (more bool, err error) { return true, nil }

// fed reads an answer by Feed; pauses is how often there was nothing at hand.
func fed(r *Response) (body string, pauses int, err error) {
	err = r.Feed(sink{func(p []byte) error {
		if len(p) == 0 {
			return errors.New("an empty piece")
		}
		body += string(p)
		return nil
	}, func() error { pauses++; return nil }})
	return body, pauses, err
}

// However an answer ends, Feed says what Next says: of a plain connection, and of one that has to be read by blocking.
func TestFeedSaysWhatNextSays(t *testing.T) {
	for name, c := range map[string]struct {
		say  []string
		rst  bool
		want error
	}{
		"whole":         {[]string{chunking + "5\r\nhello\r\n", "6\r\n world\r\n0\r\n\r\n"}, false, io.EOF},
		"whole at once": {[]string{chunking + "5\r\nhello\r\n0\r\n\r\n"}, false, io.EOF},
		"counted":       {[]string{counting + "01234", "56789"}, false, io.EOF},
		"until close":   {[]string{"HTTP/1.0 200 OK\r\n\r\nhello", " world"}, false, io.EOF},
		"larger than a buffer": {[]string{chunking, "11170\r\n" + strings.Repeat("0123456789", 7000), "\r\n0\r\n\r\n"},
			false, io.EOF},
		"cut within a chunk": {[]string{chunking + "5\r\nhello\r\n", "9\r\n wor"}, false, ErrReset},
		"cut between chunks": {[]string{chunking + "5\r\nhello\r\n", "6\r\n world\r\n"}, false, ErrReset},
		"cut within a count": {[]string{counting + "0123"}, false, ErrReset},
		"reset":              {[]string{chunking + "5\r\nhello\r\n"}, true, ErrReset},
		"bad framing":        {[]string{chunking + "5\r\nhello\r\n", "5\r\nworldXX"}, false, ErrProtocol},
	} {
		for _, blocking := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, blocking=%v", name, blocking), func(t *testing.T) {
				url := listen(t, func(p *peer) {
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
				})
				cfg := Config{URL: url}
				if blocking {
					cfg.Dial = func(ctx context.Context) (net.Conn, error) {
						nc, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
						return struct{ net.Conn }{nc}, err
					}
				}
				cl := dialUp(t, cfg)
				first, err := cl.Do(context.Background(), post("{}"))
				if err != nil {
					t.Fatal(err)
				}
				wantBody, wantErr := drain(first)
				_ = first.Close()
				second, err := cl.Do(context.Background(), post("{}"))
				if err != nil {
					t.Fatal(err)
				}
				body, _, err := fed(second)
				_ = second.Close()
				if !errors.Is(err, c.want) || wantErr != nil && !errors.Is(wantErr, c.want) || body != wantBody &&
					!c.rst {
					t.Errorf("fed %d bytes, %v; by Next %d bytes, %v", len(body), err, len(wantBody), wantErr)
				}
			})
		}
	}
}

// An engine that dies with its last bytes is found out at once, though no read is made in vain to see whether it lives.
func TestAnEndThatComesWithTheLastBytesIsSeenAtOnce(t *testing.T) {
	for _, rst := range []bool{false, true} {
		cl := dialUp(t, Config{URL: listen(t, func(p *peer) {
			p.request()
			p.say(chunking + "5\r\nfirst\r\n")
			time.Sleep(3 * time.Millisecond) // real time: the reader comes to wait
			p.say("4\r\nlast\r\n")
			if rst {
				p.reset()
			}
		})})
		for range 300 {
			resp, err := cl.Do(context.Background(), patient(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := fed(resp); !errors.Is(err, ErrReset) {
				t.Fatal(err)
			}
			_ = resp.Close()
		}
	}
}

func TestFeedGoesOnWhereItsReaderStopped(t *testing.T) {
	cl := dialUp(t, Config{URL: listen(t, each(chunking+"3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n"))})
	resp, err := cl.Do(context.Background(), post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	var got []string
	keep := sink{take: func(p []byte) error { got = append(got, string(p)); return stop }}
	if err := resp.Feed(keep); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	one := new(single)
	if err := resp.Feed(one); err != nil {
		t.Fatal(err)
	}
	got = append(got, one.piece)
	rest, err := drain(resp)
	if got = append(got, rest); err != nil || strings.Join(got, " ") != "one two three" {
		t.Errorf("%q %v", got, err)
	}
	_ = resp.Close()
	if cl.idleCount() != 1 {
		t.Error("the connection was not kept")
	}
}

// The idle timeout counts from the last bytes that came, and strikes at most an eighth of itself late.
func TestFeedTimesOutOnSilenceAlone(t *testing.T) {
	const idle = 80 * time.Millisecond
	over := make(chan struct{})
	cl := dialUp(t, Config{URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking)
		for range 12 {
			time.Sleep(idle / 4) // real time: shorter than the idle timeout
			p.say("1\r\nx\r\n")
		}
		<-over
	})})
	defer close(over)
	resp, err := cl.Do(context.Background(), patient(idle))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	last := time.Now()
	err = resp.Feed(sink{take: func([]byte) error { last = time.Now(); return nil }})
	if silent := time.Since(last); !errors.Is(err, ErrTimeout) || silent < idle {
		t.Errorf("%v after %v", err, silent)
	}
}

func TestTheEndOfTheContextEndsFeed(t *testing.T) {
	over := make(chan struct{})
	cl := dialUp(t, Config{URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking + "5\r\nhello\r\n")
		<-over
	})})
	defer close(over)
	ctx, cancel := context.WithCancelCause(context.Background())
	resp, err := cl.Do(ctx, patient(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	err = resp.Feed(sink{take: func([]byte) error {
		time.AfterFunc(5*time.Millisecond, func() { cancel(errGone) })
		return nil
	}})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errGone) {
		t.Error(err)
	}
}
