package zmtp

import (
	"net"
	"sync"
	"syscall"
	"testing"
)

// A peer whose machine is gone is noticed within about ten seconds at either end, whichever has dialled.
func TestAPeerThatIsGoneIsNoticedSoon(t *testing.T) {
	e, err := ParseEndpoint("tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	accepted := make(chan net.Conn, 1)
	var peer sync.WaitGroup
	peer.Go(func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
			_, _ = Open(c, "PUB", small)
		}
	})
	if e, err = ParseEndpoint("tcp://" + l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	dialled, err := e.Dial(t.Context(), "SUB", small)
	if err != nil {
		t.Fatal(err)
	}
	peer.Wait()
	other := <-accepted
	t.Cleanup(func() { _, _ = dialled.Close(), other.Close() })
	for name, c := range map[string]net.Conn{"the one that dialled": dialled.c, "the one that listened": other} {
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		seconds := 0
		err = raw.Control(func(fd uintptr) {
			for option, times := range map[int]int{syscall.TCP_KEEPIDLE: 1, syscall.TCP_KEEPINTVL: 3} {
				n, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option)
				if err != nil {
					t.Error(err)
				}
				seconds += n * times
			}
		})
		if err != nil || seconds > 12 {
			t.Errorf("%s notices after %d s, %v", name, seconds, err)
		}
	}
}
