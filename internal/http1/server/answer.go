package server

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"octet/internal/http1/sock"
	"octet/internal/poison"
)

// outSize is what of an answer is held before it is sent, in bytes, with its head.
const outSize = 4 << 10

// outPages are used again: a page is one answer's alone, and system calls have taken what is in it when they return.
var outPages = sync.Pool{New: func() any { return new([outSize]byte) }}

// How a page is laid out. An answer's head grows from its beginning, and is moved up to what follows when it is sent; a
// chunk's size is written right before its bytes.
const (
	gap       = 224 // for what the server adds to a head, and the first chunk's size
	sizeRoom  = 10  // for a chunk's size and CRLF: lengths below 2^32
	tailRoom  = 8   // for CRLF and the last chunk
	mostSplit = 1 << 30
)

// Answer is the http.ResponseWriter of one request after another.
type Answer struct {
	c        *conn
	began    time.Time
	header   http.Header
	explicit explicitHeaders // what the handler's fields determine
	err      error           // of the first write that failed; nothing is written after it
	progress

	page *[outSize]byte // from the pool; nil while nothing is held
	buf  []byte         // page, or larger
	head int            // buf[:head] is the head, not sent yet
	from int            // buf[from:] is of the body, not sent yet
	owed []byte         // what TrySend had no room for, in its chunk

	segments [3][]byte
	writing  net.Buffers
}

// progress is how far an answer is. It holds no pointers, so that an answer begins with it cheaply.
type progress struct {
	status  int   // 0 before WriteHeader
	length  int64 // as declared by the handler, or found out; -1 is unknown
	count   int64 // bytes of the body that the handler wrote
	wrote   bool  // WriteHeader was called
	sent    bool  // the head is out
	chunks  bool  // the body goes out in chunks
	empty   bool  // no body goes out, whatever the handler writes
	toEnd   bool  // the body ends with the connection
	done    bool  // the handler has returned
	closing bool  // the connection ends after this answer
}

func (a *Answer) begin(closing bool) {
	a.drop()
	if len(a.header) > 0 {
		clear(a.header)
	}
	a.began, a.explicit, a.err = time.Now(), explicitHeaders{}, nil
	a.progress = progress{length: -1, closing: closing}
}

// drop lets go of what was not sent.
func (a *Answer) drop() {
	if a.page != nil {
		giveBack(a.page)
	}
	a.page, a.buf, a.head, a.from = nil, nil, 0, 0
}

// giveBack takes a page of outPages back.
func giveBack(page *[outSize]byte) {
	poison.Bytes(page[:])
	outPages.Put(page)
}

func (a *Answer) hold() {
	if a.buf == nil {
		a.page = outPages.Get().(*[outSize]byte)
		a.buf, a.from = a.page[:sizeRoom], sizeRoom
	}
}

// Began returns when the request was at hand.
func (a *Answer) Began() time.Time { return a.began }

// now is the time, by one look at one clock.
func (a *Answer) now() time.Time { return a.began.Add(time.Since(a.began)) }

// Header returns the fields to be sent; what is changed after WriteHeader is not.
func (a *Answer) Header() http.Header { return a.header }

// WriteHeader takes down the status and the fields. One below 200, but for 101, is sent at once and precedes the
// answer.
func (a *Answer) WriteHeader(status int) {
	switch {
	case status < 100 || status > 999:
		panic(fmt.Sprintf("front: invalid status %d", status))
	case a.wrote:
		a.c.server.logf("front: superfluous WriteHeader(%d) after %d", status, a.status)
	case status < 200 && status != http.StatusSwitchingProtocols:
		a.inform(status)
	default:
		a.hold()
		a.headed(status, a.appendHead(a.buf[:0], status))
	}
}

// Start is WriteHeader for a handler that has its fields as they go over the wire: lines, each with its CRLF. They are
// taken as they are, and sent beside nothing that Header has. None of them is Content-Length, which length stands for,
// -1 being unknown, nor Content-Encoding, Transfer-Encoding, Trailer, Connection or Date; one is Content-Type. status
// is that of an answer with a body.
func (a *Answer) Start(status int, length int64, lines []byte) {
	if a.wrote {
		a.WriteHeader(status) // which complains
		return
	}
	a.explicit = explicitHeaders{length: length, kind: true}
	a.hold()
	a.headed(status, append(appendStatus(a.buf[:0], a.c.req.ProtoMinor, status), lines...))
}

// headed takes head, which has grown from the beginning of buf, as the answer's so far.
func (a *Answer) headed(status int, head []byte) {
	a.wrote, a.status = true, status
	a.buf, a.head, a.from = head, len(head), len(head)+gap
	a.reach(a.from)
}

// reach makes buf n bytes long.
func (a *Answer) reach(n int) {
	if n > cap(a.buf) {
		larger := make([]byte, n, n+outSize)
		copy(larger, a.buf)
		a.buf = larger
		return
	}
	a.buf = a.buf[:n]
}

// inform sends a head that precedes the answer's.
func (a *Answer) inform(status int) {
	if a.c.req.ProtoMinor == 0 || a.err != nil {
		return
	}
	a.c.body.expected = a.c.body.expected && status != http.StatusContinue
	a.hold()
	closing := a.closing
	page := append(a.appendHead(a.buf[:0], status), "\r\n"...)
	a.closing = closing // what the answer itself says of that counts
	a.note(a.c.send(page))
	a.drop()
}

// Write sends body bytes where they are more than a page holds with those before; else they wait for Flush or the
// handler's return: a client that has a short answer whole finds the handler's work done.
func (a *Answer) Write(p []byte) (int, error) {
	if !a.wrote {
		a.WriteHeader(http.StatusOK)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case !allowsBody(a.status):
		return 0, http.ErrBodyNotAllowed
	case a.err != nil:
		return 0, a.err
	}
	if a.count += int64(len(p)); a.explicit.length >= 0 && a.count > a.explicit.length {
		return 0, http.ErrContentLength
	}
	a.hold()
	if len(a.buf)+len(p)+tailRoom <= outSize {
		a.buf = append(a.buf, p...)
		return len(p), nil
	}
	if err := a.push(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString is Write.
func (a *Answer) WriteString(s string) (int, error) { return a.Write([]byte(s)) }

// Flush sends what is held.
func (a *Answer) Flush() { _ = a.FlushError() }

// FlushError sends what is held: the head, and the body so far as one chunk. One system call, and none where nothing is
// held.
func (a *Answer) FlushError() error {
	if !a.wrote {
		a.WriteHeader(http.StatusOK)
	}
	if a.err != nil {
		return a.err
	}
	if a.sent && len(a.buf) <= a.from {
		return nil
	}
	return a.push(nil, false)
}

// SetWriteDeadline bounds how long writes wait from now on; zero is for ever.
func (a *Answer) SetWriteDeadline(t time.Time) error {
	a.c.writeBy = t
	return nil
}

// finish sends what is left when the handler has returned, and the end.
func (a *Answer) finish() {
	a.done = true
	if !a.wrote {
		a.WriteHeader(http.StatusOK)
	}
	if a.err == nil && (!a.sent || a.chunks || len(a.buf) > a.from) {
		_ = a.push(nil, true) // a.err keeps it
	}
	a.drop()
}

// push sends the head, unless it is out, and the body: what is held, then p. last ends the body.
func (a *Answer) push(p []byte, last bool) error {
	if a.owed != nil {
		a.sendOwed()
	}
	a.hold()
	if !a.sent {
		a.decideFraming(p, last)
	}
	if last && !a.sent {
		sock.Batch()
	}
	held := len(a.buf) - a.from
	if a.empty {
		a.buf, p, held = a.buf[:a.from], nil, 0
	}
	start, tail := a.from, ""
	if a.chunks {
		start, tail = a.chunk(held+len(p), last)
	}
	if !a.sent {
		start -= a.head
		copy(a.buf[start:], a.buf[:a.head])
		a.sent = true
	}
	if len(p) == 0 {
		a.buf = append(a.buf, tail...)
		a.note(a.c.send(a.buf[start:]))
	} else {
		a.segments = [3][]byte{a.buf[start:], p, tails[tail]}
		a.writing = a.segments[:]
		if tail == "" {
			a.writing = a.segments[:2]
		}
		a.note(a.c.sendAll(&a.writing))
		clear(a.segments[:])
	}
	a.drop()
	return a.err
}

// note keeps the first error.
func (a *Answer) note(err error) {
	if a.err == nil && err != nil {
		a.err = err
	}
}

// unlike says whether the handler wrote less than the length that it declared, or tried to write more.
func (a *Answer) unlike() bool {
	return a.explicit.length >= 0 && !a.empty && a.count != a.explicit.length
}

// untilClose says whether an answer has begun whose end is the connection's.
func (a *Answer) untilClose() bool { return a.sent && a.toEnd }
