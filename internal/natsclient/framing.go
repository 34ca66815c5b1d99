package natsclient

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// framing follows what a server sends, byte by byte as it comes, without keeping it.
type framing struct {
	most int64  // bytes of a message
	line []byte // what has come of the line under way
	skip int64  // bytes of a message that are yet to come
	end  string // that has to follow it
}

// take follows b, or says what is wrong with it.
func (f *framing) take(b []byte) error {
	for len(b) > 0 {
		if f.skip > 0 {
			n := min(f.skip, int64(len(b)))
			f.skip, b = f.skip-n, b[n:]
			continue
		}
		if f.end != "" {
			if b[0] != f.end[0] {
				return errForm
			}
			f.end, b = f.end[1:], b[1:]
			continue
		}
		n, err := f.read(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// read takes bytes up to the end of a line, and obeys the line where it is whole.
func (f *framing) read(b []byte) (int, error) {
	end := bytes.IndexByte(b, '\n')
	part := b
	if end >= 0 {
		part = b[:end]
	}
	f.line = append(f.line, part[:min(len(part), maxInfo+1)]...)
	if limit := f.limit(); len(f.line) > limit {
		return 0, fmt.Errorf("a line of more than %d bytes", limit)
	}
	if end < 0 {
		return len(b), nil
	}
	err := f.obey(bytes.TrimSuffix(f.line, []byte("\r")))
	f.line = f.line[:0]
	return end + 1, err
}

// limit is that of the line under way.
func (f *framing) limit() int {
	if len(f.line) > 0 && f.line[0]|0x20 == 'i' {
		return maxInfo
	}
	return maxLine
}

var errForm = errors.New("not NATS")

// obey follows a whole line. Words are told in any case, as the library does.
func (f *framing) obey(line []byte) error {
	word, args, _ := bytes.Cut(bytes.ReplaceAll(line, []byte("\t"), []byte(" ")), []byte(" "))
	fields := bytes.FieldsFunc(args, func(r rune) bool { return r == ' ' || r == '\r' })
	switch string(bytes.ToUpper(word)) {
	case "INFO", "PING", "PONG", "+OK", "-ERR":
		return nil
	case "MSG":
		if len(fields) != 3 && len(fields) != 4 {
			return errForm
		}
		return f.message(fields[len(fields)-1], []byte("0"))
	case "HMSG":
		if len(fields) != 4 && len(fields) != 5 {
			return errForm
		}
		return f.message(fields[len(fields)-1], fields[len(fields)-2])
	}
	return errForm
}

// message begins a message of that size, headers of the other size included.
func (f *framing) message(size, headers []byte) error {
	n, err := strconv.ParseInt(string(size), 10, 64)
	if err != nil || n < 0 {
		return errForm
	}
	h, err := strconv.ParseInt(string(headers), 10, 64)
	if err != nil || h < 0 || h > n {
		return errForm
	}
	if n > f.most {
		return fmt.Errorf("a message of %d bytes, of at most %d", n, f.most)
	}
	f.skip, f.end = n, "\r\n"
	return nil
}
