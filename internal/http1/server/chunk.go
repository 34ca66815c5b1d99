package server

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// Bounds of a chunked body, and of what it may carry beside its bytes. The excess is net/http's.
const (
	mostChunk    = 1<<60 - 1 // bytes of one; net/http's sums overflow a little further up
	mostExcess   = 16 << 10  // bytes of framing over 16 a chunk and twice its size
	mostTrailers = 4 << 10
	mostChunkRow = 4 << 10
)

// readChunk reads some of a chunked body: all that is at hand of it, or what comes first.
func (b *body) readChunk(p []byte) (n int, err error) {
	for n < len(p) {
		if b.left == 0 {
			if n > 0 && !b.lineAtHand() {
				return n, nil
			}
			if err := b.nextChunk(); err != nil {
				return n, err
			}
		}
		if n > 0 && b.c.r == b.c.w {
			return n, nil
		}
		m, err := b.take(p[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// lineAtHand says whether the next chunk's size can be read without waiting.
func (b *body) lineAtHand() bool {
	unread := b.c.buf[b.c.r:b.c.w]
	if b.inChunk {
		unread = unread[min(2, len(unread)):]
	}
	return bytes.IndexByte(unread, '\n') >= 0
}

// nextChunk reads up to the bytes of the next chunk, and past the end of the chunk before; io.EOF is the end of the
// body.
func (b *body) nextChunk() error {
	if b.inChunk {
		if _, err := b.c.line(len("\r\n")); err != nil {
			return err
		}
		b.inChunk = false
	}
	line, err := b.c.line(mostChunkRow)
	if err != nil {
		return err
	}
	size, ok := chunkSize(line)
	if !ok {
		return errChunk
	}
	b.excess = max(b.excess+int64(len(line))+2-16-2*size, 0)
	if b.excess > mostExcess {
		return errChunk
	}
	if size == 0 {
		return b.skipTrailers()
	}
	b.left, b.inChunk = size, true
	return nil
}

// chunkSize reads a chunk's line: a number of up to 16 hexadecimal digits, and extensions, which are ignored.
func chunkSize(line string) (size int64, ok bool) {
	digits, extension, _ := strings.Cut(line, ";")
	if digits == "" || len(digits) > 16 || !printable(extension) {
		return 0, false
	}
	for i := range len(digits) {
		d := hexDigit(digits[i])
		if d < 0 || size > mostChunk>>4 {
			return 0, false
		}
		size = size<<4 | d
	}
	return size, true
}

func hexDigit(b byte) int64 {
	switch {
	case '0' <= b && b <= '9':
		return int64(b - '0')
	case 'a' <= b && b <= 'f':
		return int64(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int64(b-'A') + 10
	}
	return -1
}

// skipTrailers reads past the fields after the last chunk; they are dropped.
func (b *body) skipTrailers() error {
	for left := mostTrailers; ; {
		line, err := b.c.line(left)
		switch {
		case errors.Is(err, errChunk):
			return errTrailers
		case err != nil:
			return err
		case line == "":
			return io.EOF
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !token(name) || !printable(value) {
			return errTrailers
		}
		left -= len(line) + 2
	}
}

// line takes the next line, at most most bytes with its CRLF, and returns it without. A line that is longer, or ends
// otherwise, is errChunk; an end of the connection is io.ErrUnexpectedEOF.
func (c *conn) line(most int) (string, error) {
	for seen := 0; ; {
		unread := c.buf[c.r:c.w]
		if n := bytes.IndexByte(unread[seen:], '\n'); n >= 0 {
			end := seen + n
			if end == 0 || unread[end-1] != '\r' || end+1 > most {
				return "", errChunk
			}
			c.r += end + 1
			return string(unread[:end-1]), nil
		}
		if seen = len(unread); seen >= most {
			return "", errChunk
		}
		if err := c.fill(); errors.Is(err, io.EOF) {
			return "", io.ErrUnexpectedEOF
		} else if err != nil {
			return "", err
		}
	}
}
