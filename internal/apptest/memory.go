package apptest

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Memory is a listener whose connections are memory. Unlike net.Pipe they hold what is not read yet, as sockets do;
// unlike bufconn's a deadline that was lifted never strikes.
type Memory struct {
	coming chan net.Conn // unbuffered: a dial succeeds when it is accepted
	closed chan struct{}
	once   sync.Once
	at     net.Addr // of the listener, as connections tell it
}

// NewMemory returns a listener.
func NewMemory() *Memory { return newMemoryAt(nowhere{}) }

// newMemoryAt returns a listener whose connections say that they came to an address.
func newMemoryAt(at net.Addr) *Memory {
	return &Memory{coming: make(chan net.Conn), closed: make(chan struct{}), at: at}
}

// Accept implements net.Listener.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.coming:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *Memory) Addr() net.Addr { return m.at }

// Dial connects to the listener, as soon as it accepts.
func (m *Memory) Dial(ctx context.Context) (net.Conn, error) {
	there, back := newFlow(), newFlow()
	select {
	case m.coming <- &memoryConn{in: there, out: back, at: m.at}:
		return &memoryConn{in: back, out: there, at: nowhere{}}, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type nowhere struct{}

func (nowhere) Network() string { return "memory" }
func (nowhere) String() string  { return "127.0.0.1:1" }

// memoryConn is one end.
type memoryConn struct {
	in, out *flow
	at      net.Addr // of this end
}

func (c *memoryConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *memoryConn) Write(p []byte) (int, error) { return c.out.write(p) }

// OnPeerClosed implements server.Telling.
func (c *memoryConn) OnPeerClosed(f func()) {
	if c.in.onEnd(f) {
		f()
	}
}

func (c *memoryConn) Close() error {
	c.in.end(true)
	c.out.end(false)
	return nil
}

func (c *memoryConn) LocalAddr() net.Addr                { return c.at }
func (c *memoryConn) RemoteAddr() net.Addr               { return nowhere{} }
func (c *memoryConn) SetReadDeadline(t time.Time) error  { return c.in.bound(&c.in.readBy, t) }
func (c *memoryConn) SetWriteDeadline(t time.Time) error { return c.out.bound(&c.out.writeBy, t) }

func (c *memoryConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t) // never fails
	return c.SetWriteDeadline(t)
}

// flowSize is what is written and not yet read at most, in bytes.
const flowSize = 64 << 10

// flow is one direction.
type flow struct {
	mu              sync.Mutex
	change          sync.Cond
	held            []byte
	ended           bool   // by the writer: what is held can be read
	left            bool   // by the reader: what is written goes nowhere
	told            func() // called when the writer ends it; nil if nothing is to be
	readBy, writeBy limit
}

// limit is a deadline.
type limit struct {
	at    time.Time
	timer *time.Timer
}

func (l *limit) passed() bool { return !l.at.IsZero() && !time.Now().Before(l.at) }

func newFlow() *flow {
	f := &flow{}
	f.change.L = &f.mu
	return f
}

func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.left:
			return 0, net.ErrClosed
		case f.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(f.held) > 0:
			n := copy(p, f.held)
			f.held = append(f.held[:0], f.held[n:]...)
			f.change.Broadcast()
			return n, nil
		case f.ended:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		f.change.Wait()
	}
}

func (f *flow) write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(p) > 0 {
		switch room := flowSize - len(f.held); {
		case f.ended:
			return n, net.ErrClosed
		case f.left:
			return n, io.ErrClosedPipe
		case f.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		case room > 0:
			part := p[:min(room, len(p))]
			f.held = append(f.held, part...)
			n, p = n+len(part), p[len(part):]
			f.change.Broadcast()
		default:
			f.change.Wait()
		}
	}
	return n, nil
}

// onEnd has told called when the writer ends the flow. It returns true if it has.
func (f *flow) onEnd(told func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = told
	return f.ended
}

// end is its reader's or its writer's.
func (f *flow) end(reader bool) {
	var told func()
	defer func() {
		if told != nil {
			told()
		}
	}()
	f.mu.Lock()
	defer f.mu.Unlock()
	if reader {
		f.left, f.held = true, nil
	} else if !f.ended {
		f.ended, told = true, f.told
	}
	for _, l := range []*limit{&f.readBy, &f.writeBy} {
		if l.timer != nil && f.left && f.ended {
			l.timer.Stop()
		}
	}
	f.change.Broadcast()
}

func (f *flow) bound(l *limit, t time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.at = t; l.timer != nil {
		l.timer.Stop()
	}
	// A time that has come needs no timer: the Broadcast below tells it. Go 1.26 also runs such a timer at once, and
	// two goroutines of one bubble that do so share the bubble's race context, which ends the process under the race
	// detector.
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		l.timer = time.AfterFunc(wait, f.wake)
	}
	f.change.Broadcast()
	return nil
}

func (f *flow) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change.Broadcast()
}
