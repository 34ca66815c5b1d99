package sock

import (
	"net"
	"os"
	"syscall"
)

// mostParts is how many parts one system call takes.
const mostParts = 8

// Writer writes to a connection as net.Conn's Write and net.Buffers' WriteTo do. One goroutine at a time may use it.
type Writer struct {
	nc    net.Conn
	raw   syscall.RawConn // nil: by nc
	out   func(fd uintptr) bool
	parts [][]byte // left to write
	one   [1][]byte
	n     int // written
	errno syscall.Errno
}

// Init makes w write to nc; past the scheduler where that can be done with a TCP connection.
func (w *Writer) Init(nc net.Conn) {
	w.nc = nc
	if tcp, plain := nc.(*net.TCPConn); plain && Fast {
		w.raw, _ = tcp.SyscallConn() // fails on nil alone
		w.out = w.write
	}
}

// Write writes all of b, unless it fails.
func (w *Writer) Write(b []byte) (int, error) {
	if w.raw == nil {
		return w.nc.Write(b)
	}
	w.one[0] = b
	w.parts = w.one[:]
	n, err := w.run()
	w.one[0] = nil
	return n, err
}

// WriteAll writes all of the buffers, and lets go of what it has written.
func (w *Writer) WriteAll(buffers *net.Buffers) (int64, error) {
	if w.raw == nil {
		return buffers.WriteTo(w.nc)
	}
	w.parts = *buffers
	n, err := w.run()
	*buffers, w.parts = w.parts, nil
	return int64(n), err
}

func (w *Writer) run() (int, error) {
	w.n, w.errno = 0, 0
	err := w.raw.Write(w.out)
	if err == nil && w.errno != 0 {
		err = os.NewSyscallError("write", w.errno)
	}
	return w.n, err
}

// write reports false where it has to wait for room.
func (w *Writer) write(fd uintptr) bool {
	for {
		w.parts = drop(w.parts, 0)
		var n int
		switch len(w.parts) {
		case 0:
			return true
		case 1:
			n, w.errno = Write(fd, w.parts[0])
		default:
			n, w.errno = gather(fd, w.parts[:min(len(w.parts), mostParts)])
		}
		if w.errno == syscall.EAGAIN {
			w.errno = 0
			return false
		}
		if w.errno != 0 {
			return true
		}
		w.n += n
		w.parts = drop(w.parts, n)
	}
}

// drop lets go of the first n bytes of parts, and of empty parts before the rest.
func drop(parts [][]byte, n int) [][]byte {
	for len(parts) > 0 && n >= len(parts[0]) {
		n -= len(parts[0])
		parts[0], parts = nil, parts[1:]
	}
	if n > 0 {
		parts[0] = parts[0][n:]
	}
	return parts
}
