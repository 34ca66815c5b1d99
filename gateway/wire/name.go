package wire

import (
	"encoding/binary"
	"math/bits"
)

// Key reads the next member's name, unescaped, and stops before its value; false at the end of the open object.
func (c *Cursor) Key() ([]byte, bool) {
	name, ok := c.name()
	if ok && c.keys != nil {
		ok = c.once(name)
	}
	return c.bytes(name), ok
}

// key is Key, and refuses a name that repeats.
func (c *Cursor) key() (text, bool) {
	name, ok := c.name()
	if ok && c.keys != nil {
		ok = c.once(name)
	}
	return name, ok
}

// once judges the name just read: it must be the first of its kind in the open object.
func (c *Cursor) once(name text) bool {
	if c.keys.add(c, name) {
		return true
	}
	c.repeated()
	return false
}

func (c *Cursor) repeated() { c.fail(CodeDuplicateKey, c.named, "a member name repeats") }

// name moves to the next member and reads its name, which may repeat; false at the end of the open object. What most
// bodies spell without spaces and escapes is read here, all else by nameOfAnyKind.
func (c *Cursor) name() (text, bool) {
	i := c.i
	if !c.fresh {
		i++ // behind a comma, if it is one
	}
	if i <= 0 || len(c.b)-i < nameRoom || c.b[i] != '"' || !c.fresh && c.b[i-1] != ',' {
		return c.nameOfAnyKind()
	}
	p := (*[nameRoom]byte)(c.b[i:])
	w := binary.LittleEndian.Uint64(p[1:9])
	m := unplain(w)
	n := 1
	c.hash = w & below(m)
	if m == 0 {
		w = binary.LittleEndian.Uint64(p[9:17])
		m = unplain(w)
		n = 9
		c.hash ^= bits.RotateLeft64(w&below(m), 29)
	}
	n += bits.TrailingZeros64(m) >> 3 // 8 for no bit
	if n > 16 || p[n] != '"' || p[n+1] != ':' {
		return c.nameOfAnyKind()
	}
	c.named, c.i, c.fresh = i, i+n+2, false
	return text{off: uint32(i + 1), end: uint32(i + n)}, true
}

// nameRoom is what name looks at: quotes, 15 bytes and a colon, and what fills up words.
const nameRoom = 18

func (c *Cursor) nameOfAnyKind() (text, bool) {
	if !c.next('}') {
		return text{}, false
	}
	c.named = c.i
	name := c.plain(c.text())
	c.hash = hashOf(c.bytes(name))
	if c.Peek() != ':' {
		c.unexpected()
		return text{}, false
	}
	c.i++
	return name, true
}
