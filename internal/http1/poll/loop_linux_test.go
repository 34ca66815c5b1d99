package poll

import (
	"bytes"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"octet/internal/http1/sock"
)

// reader counts what it reads until its peer is gone, or it has enough.
type reader struct {
	fd     uintptr
	got    atomic.Int64
	turns  atomic.Int64
	enough int64
	panics bool
	end    chan error
	hung   bool
}

func (r *reader) Ready(page []byte, hung bool) Next {
	r.turns.Add(1)
	if r.panics {
		panic("oh")
	}
	r.hung = r.hung || hung
	n, errno := sock.Read(r.fd, page)
	switch {
	case errno == syscall.EAGAIN:
		return Wait
	case errno != 0 || n == 0:
		return Leave
	}
	if r.got.Add(int64(n)) == r.enough {
		return Leave
	}
	if n == len(page) || r.hung {
		return More
	}
	return Wait
}

func (r *reader) End(why error) { r.end <- why }

// join adds a reader of one end of a connection to l, and returns the other end.
func join(t *testing.T, l interface {
	Add(uintptr, Stream, time.Duration) bool
}, r *reader, idle time.Duration) (far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	far, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	raw, _ := near.(*net.TCPConn).SyscallConn()
	_ = raw.Control(func(fd uintptr) { r.fd = fd })
	r.end = make(chan error, 1)
	if !l.Add(r.fd, r, idle) {
		t.Fatal("not added")
	}
	return far
}

func loop(t *testing.T) *Loop {
	l, err := NewLoop(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func (r *reader) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.end:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("not ended")
		return nil
	}
}

// Every byte reaches the callback that waits for it, more than a page at once, too, and the end with it.
func TestEveryStreamReadsAllThatComes(t *testing.T) {
	l := loop(t)
	const streams, bytesEach = 100, 3*PageSize + 7
	readers := make([]*reader, streams)
	for i := range readers {
		readers[i] = new(reader)
		far := join(t, l, readers[i], time.Hour)
		go func() {
			for left := bytesEach; left > 0; left -= min(left, 10_000+i) {
				_, _ = far.Write(bytes.Repeat([]byte{'x'}, min(left, 10_000+i)))
			}
			if i%2 == 0 {
				_ = far.Close()
			} else {
				_ = far.(*net.TCPConn).CloseWrite()
			}
		}()
	}
	for i, r := range readers {
		if err := r.ended(t); err != nil || r.got.Load() != bytesEach {
			t.Errorf("stream %d: %d bytes, %v", i, r.got.Load(), err)
		}
	}
}

// A connection that leaves is called no more, whatever comes; and its place is another's.
func TestWhoLeavesIsCalledNoMore(t *testing.T) {
	l := loop(t)
	for range 3 {
		r := &reader{enough: 1}
		far := join(t, l, r, time.Hour)
		_, _ = far.Write([]byte("x"))
		if err := r.ended(t); err != nil {
			t.Fatal(err)
		}
		turns := r.turns.Load()
		_, _ = far.Write([]byte("more"))
		time.Sleep(5 * time.Millisecond) // real time: the loop's own turn
		if r.turns.Load() != turns {
			t.Error("it was called")
		}
	}
	if len(l.slots) != 1 {
		t.Errorf("%d places for one at a time", len(l.slots))
	}
}

func TestAPanicEndsItsStreamAlone(t *testing.T) {
	l := loop(t)
	bad, good := &reader{panics: true}, &reader{enough: 2}
	farBad, farGood := join(t, l, bad, time.Hour), join(t, l, good, time.Hour)
	_, _ = farGood.Write([]byte("x"))
	_, _ = farBad.Write([]byte("x"))
	var p *Panic
	if err := bad.ended(t); !errors.As(err, &p) || p.Panicked() != "oh" || len(p.Stack) == 0 {
		t.Error(err)
	}
	_, _ = farGood.Write([]byte("x"))
	if err := good.ended(t); err != nil {
		t.Error(err)
	}
}

// A connection that is silent for its time is ended, and not before; one that is not is not.
func TestWhoIsSilentForTooLongIsEnded(t *testing.T) {
	l := loop(t)
	silent, talks := new(reader), new(reader)
	began := time.Now()
	join(t, l, silent, 2*Sweep)
	far := join(t, l, talks, 2*Sweep)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(Sweep / 5):
				_, _ = far.Write([]byte("x"))
			}
		}
	}()
	if err := silent.ended(t); !errors.Is(err, ErrIdle) || time.Since(began) < 2*Sweep {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	time.Sleep(2 * Sweep) // real time: a report that must not come
	select {
	case err := <-talks.end:
		t.Error(err)
	default:
	}
	close(stop)
	if err := talks.ended(t); !errors.Is(err, ErrIdle) {
		t.Error(err)
	}
}

// One that always has more does not keep others from their turns.
func TestABurstStarvesNobody(t *testing.T) {
	l := loop(t)
	burst, other := new(reader), &reader{enough: 1}
	far := join(t, l, burst, time.Hour)
	farOther := join(t, l, other, time.Hour)
	stop := make(chan struct{})
	go func() {
		defer far.Close()
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = far.Write(make([]byte, 4*PageSize))
			}
		}
	}()
	for burst.turns.Load() < 100 {
		time.Sleep(time.Millisecond) // real time: the loop's own turns
	}
	_, _ = farOther.Write([]byte("x"))
	if err := other.ended(t); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := burst.ended(t); err != nil {
		t.Error(err)
	}
}

func TestCloseEndsWhoIsThereAndTakesNobodyMore(t *testing.T) {
	var l Loops
	a, b := new(reader), new(reader)
	join(t, &l, a, time.Hour)
	join(t, &l, b, time.Hour)
	l.Close()
	for _, r := range []*reader{a, b} {
		if err := r.ended(t); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	if l.Add(a.fd, a, time.Hour) {
		t.Error("added")
	}
	if (*Loops)(nil).Add(a.fd, a, time.Hour) {
		t.Error("added to none")
	}
}
