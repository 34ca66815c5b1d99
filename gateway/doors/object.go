package doors

import (
	"math/bits"
	"slices"

	"octet/gateway/wire"
)

// Object is an object whose members were read: one of them tells which others it may have. It is made to be used again.
type Object struct {
	Value
	names   []string
	members [mostNames]span // by their places in names
	read    Names           // those that it has
	strange []byte          // the first that has none of the names; nil if all have
}

// span is where a value stands.
type span struct{ off, end uint32 }

// Names is a set of names, by their places, of which there are mostNames at most.
type Names uint32

const mostNames = 16

// All is all names.
const All = ^Names(0)

// Of returns a set of names.
func Of(places ...int) (set Names) {
	for _, i := range places {
		set |= 1 << i
	}
	return set
}

// Read reads the object that c comes to, whose members are expected to have some of names. Those that are null are
// lacking.
func (o *Object) Read(c *wire.Cursor, names []string) error {
	o.Value, o.names, o.read, o.strange = Here(c), names, 0, nil
	if c.Peek() != '{' {
		return o.Invalid("must be an object")
	}
	next := 0 // they come in the order of names, mostly
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		if next >= len(names) || names[next] != string(name) {
			next = slices.Index(names, string(name))
		}
		switch v := Read(c); {
		case v.Absent():
		case next >= 0:
			o.members[next] = span{v.off, v.end}
			o.read |= 1 << next
		case o.strange == nil:
			o.strange = name
		}
		next++
	}
	o.end = uint32(c.Offset())
	return nil
}

// Member returns the member of a name, by its place.
func (o *Object) Member(i int) Value {
	if o.read>>i&1 == 0 {
		return o.lacks(&o.names[i])
	}
	return Value{text: o.text, off: o.members[i].off, end: o.members[i].end}
}

// Type returns the member of a name, by its place, which is absent if it is no string.
func (o *Object) Type(i int) Value {
	v := o.Member(i)
	if v.Kind() != '"' {
		return o.lacks(&o.names[i])
	}
	return v
}

// Only refuses all members but those of names, which the object may have.
func (o *Object) Only(set Names) error {
	if o.strange != nil {
		return o.stranger(o.strange)
	}
	if more := o.read &^ set; more != 0 {
		return o.stranger([]byte(o.names[bits.TrailingZeros32(uint32(more))]))
	}
	return nil
}

// Reset forgets the object.
func (o *Object) Reset() { o.Value, o.read, o.strange = Value{}, 0, nil }
