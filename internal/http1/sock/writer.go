package sock

import (
	"net"
	"os"
	"sync"
	"syscall"
)

// mostParts is how many parts one system call takes.
const mostParts = 8

// writer is one write under way, so that a connection costs nothing while it writes nothing.
type writer struct {
	out   func(fd uintptr) bool
	parts [][]byte // left to write
	one   [1][]byte
	n     int // written
	errno syscall.Errno
}

// writers are used again: RawConn.Write calls a writer on its own goroutine, and no more when it has returned; what was
// written is dropped then.
var writers = sync.Pool{New: func() any {
	w := new(writer)
	w.out = w.write
	return w
}}

// Send writes all of b, unless it fails, as nc.Write does: past the scheduler by raw, which is nc's own descriptor, or
// by nc where raw is nil.
func Send(nc net.Conn, raw syscall.RawConn, b []byte) (int, error) {
	if raw == nil || !Fast {
		return nc.Write(b)
	}
	w := writers.Get().(*writer)
	w.one[0] = b
	w.parts = w.one[:]
	n, err := w.run(raw)
	w.one[0] = nil
	writers.Put(w)
	return n, err
}

// SendAll is Send for all of the buffers. It lets go of what it has written.
func SendAll(nc net.Conn, raw syscall.RawConn, buffers *net.Buffers) (int64, error) {
	if raw == nil || !Fast {
		return buffers.WriteTo(nc)
	}
	w := writers.Get().(*writer)
	w.parts = *buffers
	n, err := w.run(raw)
	*buffers, w.parts = w.parts, nil
	writers.Put(w)
	return int64(n), err
}

func (w *writer) run(raw syscall.RawConn) (int, error) {
	w.n, w.errno = 0, 0
	err := raw.Write(w.out)
	if err == nil && w.errno != 0 {
		err = os.NewSyscallError("write", w.errno)
	}
	return w.n, err
}

// write reports false where it has to wait for room.
func (w *writer) write(fd uintptr) bool {
	var n int
	n, w.parts, w.errno = WriteParts(fd, w.parts)
	w.n += n
	if w.errno == syscall.EAGAIN {
		w.errno = 0
		return false
	}
	return true
}

// WriteParts writes the parts, with one system call where there is room. It returns how many bytes it has written, and
// what is left of the parts where it failed: EAGAIN is that there is no more room. It lets go of what it has written.
func WriteParts(fd uintptr, parts [][]byte) (written int, left [][]byte, errno syscall.Errno) {
	for {
		parts = drop(parts, 0)
		var n int
		switch len(parts) {
		case 0:
			return written, nil, 0
		case 1:
			n, errno = Write(fd, parts[0])
		default:
			n, errno = gather(fd, parts[:min(len(parts), mostParts)])
		}
		if errno != 0 {
			return written, parts, errno
		}
		written += n
		parts = drop(parts, n)
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
