package doors

import (
	"fmt"
	"strconv"

	"octet/gateway/wire"
)

// pathTo returns the path of the value that begins at an offset of a body.
func pathTo(body *wire.Spans, at int) string {
	var path []byte
	for from := 0; from < at; {
		c := body.Cursor(from, len(body.Text()))
		kind := c.Peek()
		if from+c.Offset() == at {
			break // white space is ahead of the body
		}
		c.Enter(kind)
		for i := 0; ; i++ {
			name, more := nextIn(&c, kind)
			if !more {
				return string(path)
			}
			begin, raw := c.Value()
			if at >= from+begin+len(raw) {
				continue
			}
			path = appendStep(path, name, i)
			from += begin
			break
		}
	}
	return string(path)
}

// nextIn moves to the next item of a container; name is nil in an array.
func nextIn(c *wire.Cursor, kind byte) (name []byte, more bool) {
	if kind == '{' {
		return c.Key()
	}
	return nil, c.More()
}

func appendStep(path, name []byte, index int) []byte {
	switch {
	case name == nil:
		return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
	case len(path) > 0:
		path = append(path, '.')
	}
	return append(path, name...)
}

// MessageAt reads the path of something within a message of a chat completion: which message it is in.
func MessageAt(path string) (index int, ok bool) {
	rest := ""
	n, _ := fmt.Sscanf(path, "messages[%d]%s", &index, &rest)
	return index, n > 0 && index >= 0
}
