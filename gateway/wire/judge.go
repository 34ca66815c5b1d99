package wire

import (
	"math"
	"sync"
)

// Valid reports whether b is one strict JSON value: valid UTF-8, no repeated member, at most depth nested containers.
func Valid(b []byte, depth int) bool { return Check(b, depth) == nil }

// Check returns what is wrong with the syntax of b, by the rules of Valid; nil if nothing is. The error is an *Error.
func Check(b []byte, depth int) error {
	return Judge(b, depth, func(c *Cursor) error { c.Skip(); return nil })
}

// keySets are used again by Judge, which lends them to nothing that outlives it.
var keySets = sync.Pool{New: func() any { return new(keySet) }}

// Judge is Check for a reader: read has to read the one value of b, by strict rules. It may end with an error of its
// own, which is returned where nothing is wrong with the syntax of all of b. After a fault of the syntax, read sees the
// end of the text. The Cursor is not to be used after read.
func Judge(b []byte, depth int, read func(c *Cursor) error) error {
	keys := keySets.Get().(*keySet)
	defer func() { keys.reset(); keySets.Put(keys) }()
	c := Cursor{keys: keys}
	c.whole = &c.b
	c.start(b, depth)
	if err := read(&c); err != nil {
		if c.fault.code == "" { // the rest is yet to be read
			if fault := Check(b, depth); fault != nil {
				return fault
			}
			return err
		}
	} else if c.End() {
		return nil
	}
	return &Error{Code: c.fault.code, Message: c.fault.what, Offset: c.fault.at}
}

// Again returns a Cursor that reads once more what stands at an offset of a text that was judged, or that a Judge has
// come by.
func Again(text *[]byte, at int) Cursor {
	return Cursor{b: *text, whole: text, i: at, room: math.MaxInt, lax: true}
}
