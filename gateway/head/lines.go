// Package head spells out the field lines of an answer's head, as they go over the wire.
package head

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// Lines are the fields of an answer's head, "Name: value\r\n" each. No name comes twice.
type Lines []byte

// Text appends a field; name ends with ": ". Any value becomes exactly one line, the one that net/http would send.
func (f Lines) Text(name, value string) Lines {
	if !isLine(value) {
		value = strings.Trim(oneLine.Replace(value), " \t")
	}
	return f.Line(name, value)
}

// Line is Text for a value that is known to be one line, such as an id.
func (f Lines) Line(name, value string) Lines {
	return append(append(append(f, name...), value...), "\r\n"...)
}

// isLine returns true if a value can be sent unchanged. It may return false for one that can.
func isLine(value string) bool {
	for i := range len(value) {
		if value[i] < ' ' {
			return false
		}
	}
	n := len(value)
	return n == 0 || value[0] != ' ' && value[n-1] != ' '
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// Number appends a field; name ends with ": ".
func (f Lines) Number(name string, n int) Lines {
	f = append(f, name...)
	switch {
	case n < 0 || n > 9999:
		f = strconv.AppendInt(f, int64(n), 10)
	case n > 999:
		f = append(f, digit(n/1000), digit(n/100), digit(n/10), digit(n))
	case n > 99:
		f = append(f, digit(n/100), digit(n/10), digit(n))
	case n > 9:
		f = append(f, digit(n/10), digit(n))
	default:
		f = append(f, digit(n))
	}
	return append(f, "\r\n"...)
}

// digit returns the last digit of n.
func digit(n int) byte { return byte('0' + n%10) }

// Into sets the fields in h.
func (f Lines) Into(h http.Header) {
	room := make([]string, 0, bytes.Count(f, []byte{'\n'}))
	for line := range strings.SplitSeq(string(f), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			room = append(room, value)
			n := len(room)
			h[name] = room[n-1 : n : n]
		}
	}
}
