// Package cable is a way to a store that a test can cut, as a network does.
package cable

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Cable carries connections to an address until it is cut or frozen. Its Addr is the Listener's.
type Cable struct {
	net.Listener
	mu     sync.Mutex
	to     string
	cut    bool
	frozen chan struct{} // nil while bytes pass; closed when they do again
	open   []net.Conn
}

// New returns a Cable to an address, host:port, until the test ends.
func New(t testing.TB, to string) *Cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Cable{Listener: l, to: to}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { b.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // its error is of a second close
		b.Thaw()
		b.Cut()
		all.Wait()
	})
	return b
}

func (b *Cable) carry(c net.Conn) {
	defer c.Close()
	there, err := net.Dial("tcp", b.to)
	if err != nil {
		return
	}
	defer there.Close()
	b.mu.Lock()
	if b.cut {
		b.mu.Unlock()
		return
	}
	b.open = append(b.open, c, there)
	b.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { b.copy(there, c) })
	both.Go(func() { b.copy(c, there) })
	both.Wait()
}

func (b *Cable) copy(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		b.mu.Lock()
		frozen := b.frozen
		b.mu.Unlock()
		if frozen != nil {
			<-frozen
		}
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			if !errors.Is(err, io.EOF) {
				from.Close()
			}
			return
		}
	}
}

// Cut ends all connections, and new ones as well until it is mended.
func (b *Cable) Cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = true
	for _, c := range b.open {
		c.Close()
	}
	b.open = nil
}

// Mend has connections be made again.
func (b *Cable) Mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = false
}

// Freeze holds all bytes back.
func (b *Cable) Freeze() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frozen = make(chan struct{})
}

// Thaw has them pass again.
func (b *Cable) Thaw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frozen != nil {
		close(b.frozen)
		b.frozen = nil
	}
}
