package sock

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// pair is two ends of a TCP connection.
func pair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// rawOf is the descriptor of a TCP connection, nil of any other.
func rawOf(t *testing.T, nc net.Conn) syscall.RawConn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What is sent in parts of all sizes, into a socket that is often full, arrives; as it does from a plain net.Conn.
func TestEveryByteIsSentInOrder(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"descriptor": func(c net.Conn) net.Conn { return c },
		"net.Conn":   func(c net.Conn) net.Conn { return struct{ net.Conn }{c} },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			_ = near.SetWriteBuffer(4 << 10)
			to := wrap(near)
			raw := rawOf(t, to)
			rng := rand.New(rand.NewPCG(1, 2))
			var want []byte
			arrived := make(chan []byte)
			go func() { b, _ := io.ReadAll(far); arrived <- b }()
			for range 200 {
				var parts net.Buffers
				size := 0
				for range rng.IntN(11) {
					part := make([]byte, rng.IntN(20_000)*rng.IntN(2))
					for i := range part {
						part[i] = byte(rng.Uint32())
					}
					parts, size = append(parts, part), size+len(part)
					want = append(want, part...)
				}
				if len(parts) == 1 {
					if n, err := Send(to, raw, parts[0]); n != size || err != nil {
						t.Fatal(n, size, err)
					}
					continue
				}
				if n, err := SendAll(to, raw, &parts); n != int64(size) || err != nil || len(parts) != 0 {
					t.Fatal(n, size, len(parts), err)
				}
			}
			_ = near.CloseWrite()
			if got := <-arrived; !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d came, or others", len(got), len(want))
			}
		})
	}
}

// A write that a deadline ends has written what it says, and goes on with the rest when it is asked to.
func TestSendingGoesOnAfterADeadline(t *testing.T) {
	near, far := pair(t)
	raw := rawOf(t, near)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<19)
	parts := net.Buffers{want[:1000], want[1000:5000], want[5000:]}
	_ = near.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	n, err := SendAll(near, raw, &parts)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n >= int64(len(want)) {
		t.Fatal(n, err)
	}
	arrived := make(chan []byte)
	go func() { b, _ := io.ReadAll(far); arrived <- b }()
	_ = near.SetWriteDeadline(time.Time{})
	if m, err := SendAll(near, raw, &parts); err != nil || n+m != int64(len(want)) {
		t.Fatal(n, m, err)
	}
	_ = near.Close()
	if got := <-arrived; !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d came, or others", len(got), len(want))
	}
}

func TestSendingSaysThatThePeerIsGone(t *testing.T) {
	near, far := pair(t)
	raw := rawOf(t, near)
	_ = far.SetLinger(0)
	_ = far.Close()
	var err error
	for until := time.Now().Add(5 * time.Second); err == nil && time.Now().Before(until); {
		_, err = Send(near, raw, []byte("x"))
	}
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	_ = near.Close()
	if _, err := Send(near, raw, []byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestReadTellsNothingFromTheEnd(t *testing.T) {
	near, far := pair(t)
	raw, err := near.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	read := func() (n int, errno syscall.Errno) {
		_ = raw.Control(func(fd uintptr) { n, errno = Read(fd, make([]byte, 8)) })
		return n, errno
	}
	if _, errno := read(); errno != syscall.EAGAIN {
		t.Error(errno)
	}
	_, _ = far.Write([]byte("0123456789"))
	for _, want := range []int{8, 2} {
		n, errno := read()
		for ; errno == syscall.EAGAIN; n, errno = read() {
			time.Sleep(time.Millisecond) // real time: the kernel delivers
		}
		if n != want || errno != 0 {
			t.Error(n, errno)
		}
	}
	_ = far.Close()
	n, errno := read()
	for ; errno == syscall.EAGAIN; n, errno = read() {
		time.Sleep(time.Millisecond) // real time: the kernel delivers
	}
	if n != 0 || errno != 0 {
		t.Error(n, errno)
	}
}

func TestSendingAllocatesNothing(t *testing.T) {
	if told {
		t.Skip("ordinary calls allocate")
	}
	near, far := pair(t)
	go func() { _, _ = io.Copy(io.Discard, far) }()
	raw := rawOf(t, near)
	event, parts := make([]byte, 200), make(net.Buffers, 0, 3)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = Send(near, raw, event)
		two := append(parts, event, event)
		_, _ = SendAll(near, raw, &two)
	}); n > 1 { // the header of two
		t.Errorf("%v allocations", n)
	}
}
