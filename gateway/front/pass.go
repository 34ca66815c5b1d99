package front

import (
	"os"
	"syscall"

	"octet/internal/sock"
)

// chunkRow is the most that a chunk of a page has around its bytes.
const chunkRow = len("fff\r\n") + len("\r\n")

// Pass is Write and Flush in one. Where nothing is held, and the socket has room, it is one system call and nothing beside it: no
// deadline is armed, for nothing is waited for.
func (a *answer) Pass(p []byte) error {
	if !a.canPass(len(p)) {
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
		a.passRest(b[n:], errno)
	}
	outPages.Put(page)
	return a.err
}

// canPass says whether n bytes can go out as a chunk, past what holds back.
func (a *answer) canPass(n int) bool {
	return a.chunks && a.buf == nil && a.err == nil && a.c.raw != nil && sock.Fast && n > 0 && n <= outSize-chunkRow
}

// passRest sends what the socket had no room for, unless it failed.
func (a *answer) passRest(b []byte, errno syscall.Errno) {
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
