package chattemplate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// A value is nil (none), missing, bool, int, float64, string, *list, *dict or a function.

// missing is what is not there, and what it was to be.
type missing struct{ name string }

// list is a list or a tuple. It never changes.
type list struct{ items []any }

// dict is a mapping in the order of its keys. It changes while it is made, and as a namespace.
type dict struct {
	keys  []string
	vals  []any
	at    map[string]int // of the keys, once there are many
	space bool           // a namespace: its members can be set
}

// function is what can be called.
type function func(f *frame, a args) any

// args are what a call is given.
type args struct {
	plain []any
	names []string // of named[i]
	named []any
}

// manyKeys is from how many keys on a dict has an index.
const manyKeys = 12

func (d *dict) find(key string) int {
	if d.at != nil {
		if i, ok := d.at[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.keys {
		if k == key {
			return i
		}
	}
	return -1
}

func (d *dict) get(key string) (any, bool) {
	if i := d.find(key); i >= 0 {
		return d.vals[i], true
	}
	return nil, false
}

// put sets a member, in the place that it has already or at the end.
func (d *dict) put(key string, v any) {
	if i := d.find(key); i >= 0 {
		d.vals[i] = v
		return
	}
	d.keys, d.vals = append(d.keys, key), append(d.vals, v)
	switch {
	case d.at != nil:
		d.at[key] = len(d.keys) - 1
	case len(d.keys) > manyKeys:
		d.at = make(map[string]int, 2*len(d.keys))
		for i, k := range d.keys {
			d.at[k] = i
		}
	}
}

// fault is why rendering or parsing cannot go on. It is thrown within this package and caught at its border.
type fault struct{ err error }

func throw(sentinel error, format string, a ...any) {
	panic(fault{fmt.Errorf("%w: %s", sentinel, fmt.Sprintf(format, a...))})
}

// catch turns a fault into an error; any other panic goes on.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case fault:
		*err = p.err
	default:
		panic(p)
	}
}

// truth is bool(v).
func truth(v any) bool {
	switch x := v.(type) {
	case nil, missing:
		return false
	case bool:
		return x
	case int:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case *list:
		return len(x.items) > 0
	case *dict:
		return len(x.keys) > 0 || x.space
	}
	return true
}

// text is str(v).
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case missing:
		return ""
	case nil:
		return "None"
	case bool:
		if x {
			return "True"
		}
		return "False"
	case int:
		return strconv.Itoa(x)
	case float64:
		return string(appendFloat(nil, x))
	}
	return string(appendRepr(nil, v, 0))
}

// appendRepr writes repr(v).
func appendRepr(dst []byte, v any, depth int) []byte {
	if depth > maxDepth {
		throw(ErrTooLarge, "a value nests more than %d deep", maxDepth)
	}
	switch x := v.(type) {
	case string:
		return reprString(dst, x)
	case *list:
		dst = append(dst, '[')
		for i, item := range x.items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendRepr(dst, item, depth+1)
		}
		return append(dst, ']')
	case *dict:
		dst = append(dst, '{')
		for i, key := range x.keys {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(reprString(dst, key), ": "...)
			dst = appendRepr(dst, x.vals[i], depth+1)
		}
		return append(dst, '}')
	case function:
		throw(ErrRefused, "a function is written")
	}
	return append(dst, text(v)...)
}

// reprString writes a string as Python's repr does.
func reprString(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	dst = append(dst, quote)
	for _, r := range s {
		switch {
		case r == rune(quote), r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(r):
			dst = append(dst, string(r)...)
		case r < 0x100:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 0x10000:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
	}
	return append(dst, quote)
}

// appendFloat writes a float as Python's repr does.
func appendFloat(dst []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case math.IsInf(f, 0), math.IsNaN(f):
		return append(dst, strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))...)
	case f != 0 && (abs < 1e-4 || abs >= 1e16):
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !strings.Contains(string(dst[from:]), ".") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// kind names a value's type in messages.
func kind(v any) string {
	switch x := v.(type) {
	case nil:
		return "none"
	case missing:
		return fmt.Sprintf("%q, which is not defined,", x.name)
	case *list:
		return "a list"
	case *dict:
		return "a mapping"
	case function:
		return "a function"
	}
	return fmt.Sprintf("a %T", v)
}
