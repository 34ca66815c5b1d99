package chattemplate

import (
	"fmt"
	"strconv"
	"strings"
)

// encoder writes values as Python's json.dumps does: a space behind every comma and colon, or a line for each member.
type encoder struct {
	indent int  // -1 for all in one line
	ascii  bool // what is not ASCII is escaped
	sorted bool
}

func (e encoder) append(dst []byte, v any, depth int) []byte {
	if depth > maxDepth {
		throw(ErrTooLarge, "a value nests more than %d deep", maxDepth)
	}
	switch x := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, x)
	case int, float64:
		return append(dst, text(x)...)
	case string:
		return e.appendString(dst, x)
	case *list:
		return e.each(dst, "[]", len(x.items), depth, func(dst []byte, i int) []byte {
			return e.append(dst, x.items[i], depth+1)
		})
	case *dict:
		return e.each(dst, "{}", len(x.keys), depth, func(dst []byte, i int) []byte {
			dst = append(e.appendString(dst, x.keys[i]), ": "...)
			return e.append(dst, x.vals[i], depth+1)
		})
	}
	throw(ErrRefused, "tojson of %s", kind(v))
	return nil
}

func (e encoder) each(dst []byte, brackets string, n, depth int, one func([]byte, int) []byte) []byte {
	dst = append(dst, brackets[0])
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i > 0 && e.indent < 0 {
			dst = append(dst, ' ')
		}
		dst = one(e.line(dst, depth+1), i)
	}
	if n > 0 {
		dst = e.line(dst, depth)
	}
	return append(dst, brackets[1])
}

func (e encoder) line(dst []byte, depth int) []byte {
	if e.indent < 0 {
		return dst
	}
	return append(append(dst, '\n'), strings.Repeat(" ", e.indent*depth)...)
}

func (e encoder) appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r < ' ', e.ascii && r > '~' && r < 0x10000:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		case e.ascii && r > '~':
			r -= 0x10000
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
