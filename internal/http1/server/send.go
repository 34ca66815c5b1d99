package server

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"octet/internal/http1/sock"
)

// chunkRow is the most that a chunk of a page has around its bytes.
const chunkRow = len("fff\r\n") + len("\r\n")

// Send is Write and Flush in one. Where nothing is held, and the socket has room, it is one system call and nothing
// beside it: no deadline is armed, for nothing is waited for.
func (a *Answer) Send(p []byte) error {
	if a.owed != nil {
		a.sendOwed()
	}
	if !a.canSend(len(p)) {
		if _, err := a.Write(p); err != nil {
			return err
		}
		return a.FlushError()
	}
	a.count += int64(len(p))
	page := outPages.Get().(*[outSize]byte)
	b := appendChunk(page[:0], p)
	n, errno := sock.Write(a.c.fd, b)
	if n < len(b) {
		a.sendRest(b[n:], errno)
	}
	giveBack(page)
	return a.err
}

// TrySend is Pass that does not wait. What the socket has no room for is kept, and reported as ErrFull: the next thing
// sent by what may wait goes out behind it.
func (a *Answer) TrySend(p []byte) error {
	switch {
	case a.err != nil || len(p) == 0:
		return a.err
	case !a.canSend(len(p)):
		a.owed = append(appendSize(nil, len(p)), p...)
		a.owed = append(a.owed, "\r\n"...)
		a.count += int64(len(p))
		return ErrFull
	}
	a.count += int64(len(p))
	page := outPages.Get().(*[outSize]byte)
	b := appendChunk(page[:0], p)
	n, errno := sock.Write(a.c.fd, b)
	switch {
	case errno != 0 && errno != syscall.EAGAIN:
		a.sendRest(nil, errno)
	case n < len(b):
		a.owed = bytes.Clone(b[n:])
	}
	giveBack(page)
	if a.owed != nil {
		return ErrFull
	}
	return a.err
}

// CanPark says whether TrySend may be called: while the body goes out in chunks, by the connection's own descriptor,
// and nothing is held.
func (a *Answer) CanPark() bool { return a.canSend(1) }

// sendOwed sends what TrySend has kept.
func (a *Answer) sendOwed() {
	owed := a.owed
	a.owed = nil
	if a.err == nil {
		a.note(a.c.send(owed))
	}
}

// ErrFull is why TrySend has kept something.
var ErrFull = errors.New("front: the client's socket is full")

// canSend says whether n bytes can go out as a chunk, past what holds back.
func (a *Answer) canSend(n int) bool {
	return a.chunks && a.buf == nil && a.owed == nil && a.err == nil && a.c.raw != nil && sock.Fast && n > 0 &&
		n <= outSize-chunkRow
}

// sendRest sends what the socket had no room for, unless it failed.
func (a *Answer) sendRest(b []byte, errno syscall.Errno) {
	if errno == 0 || errno == syscall.EAGAIN {
		a.note(a.c.send(b))
		return
	}
	a.note(a.c.lost(os.NewSyscallError("write", errno)))
}

// appendChunk appends p as a chunk; p is shorter than a page, and not empty.
func appendChunk(dst, p []byte) []byte {
	const digits = "0123456789abcdef"
	n := len(p)
	if n > 0xff {
		dst = append(dst, digits[n>>8])
	}
	if n > 0xf {
		dst = append(dst, digits[n>>4&0xf])
	}
	dst = append(dst, digits[n&0xf], '\r', '\n')
	return append(append(dst, p...), '\r', '\n')
}

// appendSize appends the line before a chunk of n bytes.
func appendSize(dst []byte, n int) []byte {
	return append(strconv.AppendInt(dst, int64(n), 16), "\r\n"...)
}

// chunk writes the size of a chunk before what is held. It returns where it begins and what follows its bytes.
func (a *Answer) chunk(size int, last bool) (start int, tail string) {
	start = a.from
	if size > 0 {
		var digits [16]byte
		hex := append(strconv.AppendInt(digits[:0], int64(size), 16), "\r\n"...)
		start -= len(hex)
		copy(a.buf[start:], hex)
		tail = "\r\n"
	}
	if last {
		tail += "0\r\n\r\n"
	}
	return start, tail
}

var tails = map[string][]byte{"\r\n": []byte("\r\n"), "\r\n0\r\n\r\n": []byte("\r\n0\r\n\r\n")}
