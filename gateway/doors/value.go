package doors

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"octet/gateway/wire"
)

// Value is one value of a body that was read by strict rules, and where it stands: what it holds is read once more when
// that is asked for. The zero Value is absent, and of no body.
type Value struct {
	text     *[]byte // of the body that it is a part of
	off, end uint32  // where it stands there; off of an absent one is where the object does that lacks it, and end is 0
	name     *string // of an absent one
}

// Absent returns true if the value is absent, or null.
func (v *Value) Absent() bool { return v.end == 0 }

// Raw returns the value as it stands, without white space around it; nil if it is absent or null.
func (v *Value) Raw() []byte {
	if v.end == 0 {
		return nil
	}
	return (*v.text)[v.off:v.end:v.end]
}

// Again returns a cursor that comes to the value, which is not absent.
func (v *Value) Again() wire.Cursor { return wire.Again(v.text, int(v.off)) }

// Kind returns the first byte of the value, which tells what it is; 0 if it is absent.
func (v *Value) Kind() byte {
	if v.end == 0 {
		return 0
	}
	return (*v.text)[v.off]
}

// Path returns where the value stands, as messages[2].content[0].text. It is found by reading the body again.
func (v *Value) Path() string {
	if v.text == nil {
		return ""
	}
	path := pathTo(v.text, int(v.off))
	switch {
	case v.name == nil:
		return path
	case path == "":
		return *v.name
	}
	return path + "." + *v.name
}

// Refuse returns the error of a value.
func (v *Value) Refuse(code, message string) error {
	return &wire.Error{Code: code, Param: v.Path(), Message: message}
}

// Invalid is Refuse for a value that is not what it must be.
func (v *Value) Invalid(message string) error { return v.Refuse(wire.CodeInvalidValue, message) }

// Untranslatable is Refuse for a value that chat completions have nothing for.
func (v *Value) Untranslatable() error {
	return v.Refuse(wire.CodeUnsupportedParameter, "cannot be translated to a chat completion")
}

// Missing is the error of a value that is absent.
func (v *Value) Missing() error { return v.Refuse(wire.CodeMissingParameter, "is missing") }

// Under returns an absent member of v, for its path.
func (v *Value) Under(member string) *Value {
	absent := v.lacks(&member)
	return &absent
}

func (v *Value) lacks(member *string) Value { return Value{text: v.text, off: v.off, name: member} }

// longestName is how much of a name is told that a client has made up, in bytes.
const longestName = 64

// Members sets into[i] to the member of that name, for each of names. Any other member is refused, and into is of no
// use then.
func (v *Value) Members(names []string, into []Value) error {
	if v.Kind() != '{' {
		return v.Invalid("must be an object")
	}
	v.lackAll(names, into)
	c := v.Again()
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		i, err := v.place(&c, name, names)
		if err != nil {
			return err
		}
		if i >= 0 {
			into[i] = Read(&c)
		}
	}
	return nil
}

// Each calls f with each element of an array.
func (v *Value) Each(f func(element Value) error) error {
	if v.Kind() != '[' {
		return v.Invalid("must be an array")
	}
	c := v.Again()
	for c.Enter('['); c.More(); {
		element := Read(&c)
		if element.Absent() {
			return element.Invalid("must not be null")
		}
		if err := f(element); err != nil {
			return err
		}
	}
	return nil
}

// Text returns what stands between the quotes of a string.
func (v *Value) Text() ([]byte, error) {
	if v.Kind() != '"' {
		return nil, v.Invalid("must be a string")
	}
	raw := v.Raw()
	return raw[1 : len(raw)-1], nil
}

// Needed is Text for a value that must be there.
func (v *Value) Needed() ([]byte, error) {
	if v.Absent() {
		return nil, v.Missing()
	}
	return v.Text()
}

// Word returns a string in its plain form; "" if it is absent.
func (v *Value) Word() (string, error) {
	if v.Absent() {
		return "", nil
	}
	raw, err := v.Text()
	return string(plain(raw)), err
}

// plain returns what the inside of a string stands for.
func plain(inside []byte) []byte {
	if bytes.IndexByte(inside, '\\') < 0 {
		return inside
	}
	return wire.AppendUnquoted(nil, inside)
}

// Flag returns a boolean; false if it is absent.
func (v *Value) Flag() (bool, error) {
	switch v.Kind() {
	case 't':
		return true, nil
	case 'f', 0:
		return false, nil
	}
	return false, v.Invalid("must be true or false")
}

// Whole returns a whole number of at least least.
func (v *Value) Whole(least int) (int, error) {
	c := wire.NewCursor(v.Raw(), 1)
	if n, ok := c.Int(); ok && n >= least {
		return n, nil
	}
	return 0, v.Invalid(fmt.Sprintf("must be a whole number of at least %d", least))
}

// Real returns a number from lo to hi.
func (v *Value) Real(lo, hi float64) (float64, error) {
	if n, err := strconv.ParseFloat(string(v.Raw()), 64); err == nil && n >= lo && n <= hi {
		return n, nil
	}
	return 0, v.Invalid(fmt.Sprintf("must be a number from %g to %g", lo, hi))
}

// In returns which of words the value is: its place, -1 for another value and for an absent one.
func (v *Value) In(words []string) int {
	if v.Kind() != '"' {
		return -1
	}
	return slices.Index(words, string(plain((*v.text)[v.off+1:v.end-1])))
}

// OneOf returns the one of words that the value is.
func (v *Value) OneOf(words ...string) (string, error) {
	if i := v.In(words); i >= 0 {
		return words[i], nil
	}
	if !v.Absent() && v.Kind() != '"' {
		return "", v.Invalid("must be a string")
	}
	return "", v.Invalid("is none of the values that it may have")
}

var typeMember = "type"

// Type returns the member "type" of an object, which is absent if it is no string.
func (v *Value) Type() (Value, error) {
	if v.Kind() != '{' {
		return Value{}, v.Invalid("must be an object")
	}
	kind, c := v.lacks(&typeMember), v.Again()
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		if m := Read(&c); m.Kind() == '"' && string(name) == "type" {
			kind = m
		}
	}
	return kind, nil
}

// AppendMember begins a member of the object that dst ends in: its name, behind a comma where another came before.
func AppendMember(dst []byte, name string) []byte {
	return append(append(append(AppendComma(dst, '{'), '"'), name...), `":`...)
}

// AppendComma appends a comma unless dst ends in the bracket that opens what is being written.
func AppendComma(dst []byte, open byte) []byte {
	if dst[len(dst)-1] != open {
		dst = append(dst, ',')
	}
	return dst
}

// AppendRaw appends a string whose inside is known.
func AppendRaw(dst, inside []byte) []byte { return append(append(append(dst, '"'), inside...), '"') }
