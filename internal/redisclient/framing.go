package redisclient

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// framing follows the replies of one connection, byte by byte as they come, without keeping them.
type framing struct {
	most     int64  // bytes of a reply
	line     []byte // what has come of the line under way, its end left out
	skip     int64  // bytes of a string that are yet to come, its end included
	chunk    bool   // that string is a part of a streamed one: no value ends with it
	open     []frame
	bytes    int64 // of the reply under way, the attributes before it included
	elements int64 // that its aggregates say they have
	whole    bool  // the reply ends with the bytes at hand
}

// frame is an aggregate, or a streamed string, that has begun.
type frame struct {
	left int64 // elements yet to come; endless: until it is ended by a line of its own
	kind byte  // as on the wire
}

const endless = -1

// take follows b, or says what is wrong with it.
func (f *framing) take(b []byte) error {
	for len(b) > 0 {
		var n int
		var err error
		if f.skip > 0 {
			n, err = f.pass(len(b))
		} else {
			n, err = f.read(b)
		}
		if err == nil {
			err = f.charge(n)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// charge counts bytes of the reply under way; the last ones end it.
func (f *framing) charge(n int) error {
	if f.bytes += int64(n); f.bytes > f.most {
		return fmt.Errorf("a reply of more than %d bytes", f.most)
	}
	if f.whole {
		f.bytes, f.elements, f.whole = 0, 0, false
	}
	return nil
}

// count counts elements that the reply says it has, or that come without having been counted before.
func (f *framing) count(n int64) error {
	if f.elements += n; f.elements > MaxElements {
		return fmt.Errorf("%d elements in a reply of at most %d", f.elements, MaxElements)
	}
	return nil
}

// pass takes up to n bytes of a string.
func (f *framing) pass(n int) (took int, err error) {
	took = int(min(int64(n), f.skip))
	if f.skip -= int64(took); f.skip == 0 && !f.chunk {
		err = f.value()
	}
	return took, err
}

// read takes bytes up to the end of a line, and obeys the line where it is whole.
func (f *framing) read(b []byte) (int, error) {
	end := bytes.IndexByte(b, '\n')
	part := b
	if end >= 0 {
		part = b[:end]
	}
	if len(f.line)+len(part) > maxLine {
		return 0, fmt.Errorf("a line of more than %d bytes", maxLine)
	}
	f.line = append(f.line, part...)
	if end < 0 {
		return len(b), nil
	}
	err := f.obey(f.line)
	f.line = f.line[:0]
	return end + 1, err
}

var errForm = errors.New("not RESP")

// obey follows a whole line.
func (f *framing) obey(line []byte) error {
	if len(line) < 2 || line[len(line)-1] != '\r' {
		return errForm
	}
	kind, rest := line[0], line[1:len(line)-1]
	switch kind {
	case '+', '-', ':', '_', ',', '#', '(':
		return f.value()
	case '$', '!', '=', ';':
		return f.text(kind, rest)
	case '*', '~', '>', '%', '|':
		return f.aggregate(kind, rest)
	case '.':
		return f.end(false)
	}
	return errForm
}

// text begins a string, or a part of a streamed one.
func (f *framing) text(kind byte, length []byte) error {
	if kind == '$' && string(length) == "?" {
		return f.push('$', endless)
	}
	n, err := strconv.ParseInt(string(length), 10, 64)
	part := kind == ';'
	inside := len(f.open) > 0 && f.open[len(f.open)-1].kind == '$'
	switch {
	case err != nil || part != inside:
		return errForm
	case part && n == 0:
		return f.end(true)
	case n == -1 && !part:
		return f.value()
	case n < 0:
		return errForm
	case n > f.most-f.bytes-2:
		return fmt.Errorf("a string of %d bytes in a reply of at most %d", n, f.most)
	}
	f.skip, f.chunk = n+2, part
	return nil
}

// aggregate begins an array, set, push, map or attribute.
func (f *framing) aggregate(kind byte, count []byte) error {
	if len(f.open) > 0 && f.open[len(f.open)-1].kind == '$' {
		return errForm
	}
	if string(count) == "?" && kind != '|' && kind != '>' {
		return f.push(kind, endless)
	}
	n, err := strconv.ParseInt(string(count), 10, 64)
	switch {
	case err != nil || n < -1 || n == -1 && kind == '|':
		return errForm
	case n == -1:
		return f.value()
	case n > MaxElements:
		return fmt.Errorf("%d elements in a reply of at most %d", n, MaxElements)
	}
	return f.begin(kind, n)
}

// begin begins an aggregate of n entries.
func (f *framing) begin(kind byte, n int64) error {
	of := n
	switch kind {
	case '|':
		n, of = 2*n, 2*n+1 // an empty one costs something as well: there may be any number of them before a value
	case '%':
		n, of = 2*n, 2*n
	}
	if err := f.count(of); err != nil {
		return err
	}
	switch {
	case n > 0:
		return f.push(kind, n)
	case kind == '|': // no value, so nothing ends with it
		return nil
	}
	return f.value()
}

func (f *framing) push(kind byte, left int64) error {
	if len(f.open) == MaxDepth {
		return fmt.Errorf("a reply nested deeper than %d", MaxDepth)
	}
	f.open = append(f.open, frame{left, kind})
	return nil
}

// end ends what had no count: a streamed string, or an aggregate.
func (f *framing) end(text bool) error {
	top := len(f.open) - 1
	if top < 0 || f.open[top].left != endless || (f.open[top].kind == '$') != text {
		return errForm
	}
	f.open = f.open[:top]
	return f.value()
}

// value follows the end of one value: it may be the last one of what it is in, and that of what that is in. What an
// attribute tells of comes after it, so an attribute is no value.
func (f *framing) value() error {
	for top := len(f.open) - 1; top >= 0; top-- {
		if f.open[top].left == endless {
			return f.count(1)
		}
		if f.open[top].left--; f.open[top].left > 0 {
			return nil
		}
		kind := f.open[top].kind
		if f.open = f.open[:top]; kind == '|' {
			return nil
		}
	}
	f.whole = true
	return nil
}
