package doors

import (
	"slices"
	"strconv"

	"octet/gateway/wire"
)

// Read reads the value that c comes to.
func Read(c *wire.Cursor) Value {
	v := Here(c)
	if c.Skip(); c.Sound() && (*v.text)[v.off] != 'n' {
		v.end = uint32(c.Offset())
	}
	return v
}

// Here returns the value that c comes to, for its path: it is yet to be read.
func Here(c *wire.Cursor) Value {
	c.Peek()
	return Value{text: c.Text(), off: uint32(c.Offset())}
}

// Each reads an array, the value that c comes to: f is called at each element, and reads it.
func Each(c *wire.Cursor, f func(c *wire.Cursor) error) error {
	if err := elements(c); err != nil {
		return err
	}
	for c.More() {
		err := notNull(c)
		if err == nil {
			err = f(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Objects is Each for an array of objects, of which each has some of names: o is each of them in its turn.
func Objects(c *wire.Cursor, o *Object, names []string, f func(o *Object) error) error {
	if err := elements(c); err != nil {
		return err
	}
	for c.More() {
		err := notNull(c)
		if err == nil {
			err = o.Read(c, names)
		}
		if err == nil {
			err = f(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// elements opens an array.
func elements(c *wire.Cursor) error {
	if v := Here(c); c.Peek() != '[' {
		return v.Invalid("must be an array")
	}
	c.Enter('[')
	return nil
}

// notNull refuses an element that is null.
func notNull(c *wire.Cursor) error {
	if c.Peek() != 'n' {
		return nil
	}
	v := Read(c)
	return v.Invalid("must not be null")
}

// Take is told of a member of an object ahead of its value, by the place of its name, unless it is null. It may read
// the value, which is noted all the same.
type Take func(i int, c *wire.Cursor) error

// Members reads the object that c comes to, as Value.Members does.
func Members(c *wire.Cursor, names []string, into []Value, take Take) error {
	o := Here(c)
	if c.Peek() != '{' {
		return o.Invalid("must be an object")
	}
	return o.readMembers(c, names, into, take, func(string, int, int) {})
}

// readMembers reads the members of an object. each is told where each of them stands, those that are null included.
func (v *Value) readMembers(c *wire.Cursor, names []string, into []Value, take Take,
	each func(name string, off, end int)) error {
	v.lackAll(names, into)
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		m := Here(c)
		i, err := v.place(c, name, names)
		if err != nil {
			return err
		}
		if i < 0 {
			each(string(name), int(m.off), c.Offset())
			continue
		}
		if err := take(i, c); err != nil {
			return err
		}
		if c.Offset() == int(m.off) {
			c.Skip()
		}
		if !c.Sound() {
			break
		}
		m.end = uint32(c.Offset())
		into[i] = m
		each(names[i], int(m.off), c.Offset())
	}
	return nil
}

// lackAll has an object lack all members.
func (v *Value) lackAll(names []string, into []Value) {
	for i := range names {
		into[i] = v.lacks(&names[i])
	}
}

// place returns where names has the name of a member whose value c comes to; below 0 if that is null, which is read.
func (v *Value) place(c *wire.Cursor, name []byte, names []string) (int, error) {
	if c.Peek() == 'n' {
		c.Skip()
		return -1, nil
	}
	i := slices.Index(names, string(name))
	if i < 0 {
		return i, v.stranger(name)
	}
	return i, nil
}

// stranger refuses a member that nothing is known of.
func (v *Value) stranger(name []byte) error {
	return v.Under(string(name[:min(len(name), longestName)])).Untranslatable()
}

// Body reads a whole body, of at most depth nested containers, as Members does. It returns where the members stand. The
// error is a *wire.Error.
func Body(body []byte, depth int, names []string, into []Value, take Take) (outline wire.Outline, err error) {
	err = wire.Judge(body, depth, func(c *wire.Cursor) error {
		v := Here(c)
		if c.Peek() != '{' {
			return &wire.Error{Code: wire.CodeInvalidRequest, Message: "the body must be a JSON object"}
		}
		outline = wire.Outline{Text: body, Opening: int(v.off), Members: make([]wire.Place, 0, len(into))}
		return v.readMembers(c, names, into, take, func(name string, off, end int) {
			outline.Members = append(outline.Members, wire.Place{Name: name, Off: off, End: end})
		})
	})
	return outline, err
}

// pathTo returns the path of the value that begins at an offset of a body.
func pathTo(text *[]byte, at int) string {
	var path []byte
	for c := wire.Again(text, 0); ; {
		kind := c.Peek()
		if c.Offset() >= at || kind != '{' && kind != '[' {
			return string(path)
		}
		c.Enter(kind)
		for i := 0; ; i++ {
			name, more := nextItem(&c, kind)
			if !more {
				return string(path)
			}
			c.Peek()
			value := c
			if c.Skip(); c.Offset() > at {
				path, c = appendStep(path, name, i), value
				break
			}
		}
	}
}

// nextItem moves to the next member or element of what begins with kind. An element has no name.
func nextItem(c *wire.Cursor, kind byte) (name []byte, more bool) {
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
