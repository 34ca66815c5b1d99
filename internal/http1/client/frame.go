package client

import (
	"fmt"
	"io"

	"octet/internal/http1/field"
)

// Bounds on the parts of a chunked body that are not body, in bytes.
const (
	maxExtension = 1 << 10 // of one chunk
	maxTrailer   = 8 << 10 // the whole trailer
)

// frame finds where a body is in what was received. It looks at each byte of framing by itself, so that it does not
// matter how the bytes were cut on their way, and keeps nothing of what it was given.
type frame struct {
	state state
	left  int64 // bytes of the body, or of the chunk, that are still to come; the chunk's size while that is read
	count int   // digits of the size, bytes of the extension or of the trailer so far
}

type state uint8

const (
	counted    state = iota // left bytes, then the end
	untilClose              // the end of the connection is the end of the body
	size                    // hexadecimal digits
	sizeSpace               // white space after them
	extension               // after ';'
	sizeLF
	chunk   // left bytes
	chunkCR // after the chunk
	chunkLF
	trailer // at the beginning of a line
	trailerName
	trailerValue
	trailerLF
	lastLF
	whole
)

// take consumes the first used bytes of b. It returns the next stretch of the body, which lies within them; io.EOF when
// the body has ended; nothing of either when all of b was framing and more must come.
func (f *frame) take(b []byte) (piece []byte, used int, err error) {
	switch f.state {
	case untilClose:
		return b, len(b), nil
	case counted:
		if f.left == 0 {
			return nil, 0, io.EOF
		}
		n := f.draw(len(b))
		return b[:n], n, nil
	default: // chunks
	}
	for {
		switch {
		case f.state == whole:
			return nil, used, io.EOF
		case used == len(b):
			return nil, used, nil
		case f.state == chunk:
			n := f.draw(len(b) - used)
			if f.left == 0 {
				f.state = chunkCR
			}
			return b[used : used+n], used + n, nil
		}
		if err := f.step(b[used]); err != nil {
			return nil, used, err
		}
		used++
	}
}

// draw takes as many of n bytes as are left, and returns how many.
func (f *frame) draw(n int) int {
	if int64(n) > f.left {
		n = int(f.left)
	}
	f.left -= int64(n)
	return n
}

// step moves over one byte of framing.
func (f *frame) step(c byte) error {
	switch f.state {
	case size, sizeSpace, extension, sizeLF:
		return f.stepSize(c)
	case chunkCR:
		return f.expect(c, '\r', chunkLF)
	case chunkLF:
		f.count = 0 // and left is 0: the chunk is over
		return f.expect(c, '\n', size)
	default:
		return f.stepTrailer(c)
	}
}

// stepSize moves within "1a;extension\r\n".
func (f *frame) stepSize(c byte) error {
	switch {
	case f.state == sizeLF:
		f.count = 0
		if f.left == 0 {
			return f.expect(c, '\n', trailer)
		}
		return f.expect(c, '\n', chunk)
	case f.state == size && unhex[c] != 0:
		return f.digit(int64(unhex[c] - 1))
	case f.count == 0 && f.state == size:
		return protocolError("chunk without size")
	case c == '\r':
		f.state = sizeLF
		return nil
	case f.state == extension && c != '\n':
		return f.bounded(maxExtension, "chunk extension")
	case f.state == size && c == ';':
		f.state, f.count = extension, 0
		return nil
	case f.state != extension && (c == ' ' || c == '\t'):
		f.state = sizeSpace
		return f.bounded(maxExtension, "chunk extension")
	}
	return protocolError("bad chunk size")
}

func (f *frame) digit(d int64) error {
	if f.count++; f.count > 16 || f.left >= 1<<59 {
		return protocolError("chunk size out of range")
	}
	f.left = f.left<<4 | d
	return nil
}

// stepTrailer moves through the header lines after the last chunk, which are checked and dropped.
func (f *frame) stepTrailer(c byte) error {
	if err := f.bounded(maxTrailer, "trailer"); err != nil {
		return err
	}
	switch {
	case f.state == lastLF:
		return f.expect(c, '\n', whole)
	case f.state == trailerLF:
		return f.expect(c, '\n', trailer)
	case f.state == trailer && c == '\r':
		f.state = lastLF
	case f.state == trailerValue && c == '\r':
		f.state = trailerLF
	case f.state == trailerName && c == ':':
		f.state = trailerValue
	case f.state == trailerValue && field.IsValueByte(c):
	case f.state != trailerValue && field.IsNameByte(c):
		f.state = trailerName
	default:
		return protocolError("bad trailer")
	}
	return nil
}

func (f *frame) expect(c, want byte, next state) error {
	if c != want {
		return protocolError("bad chunk framing")
	}
	f.state = next
	return nil
}

func (f *frame) bounded(limit int, what string) error {
	if f.count++; f.count > limit {
		return fmt.Errorf("%w: %s over %d bytes", ErrTooLarge, what, limit)
	}
	return nil
}

// unhex is a hexadecimal digit's value plus one; 0 for other bytes.
var unhex = func() (t [256]uint8) {
	for i, c := range []byte("0123456789abcdef") {
		t[c] = uint8(i + 1)
	}
	for i, c := range []byte("ABCDEF") {
		t[c] = uint8(i + 11)
	}
	return t
}()
