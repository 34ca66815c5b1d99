package wire

import "slices"

// Tape is where each value stands of a text that was read once by strict rules: what is asked of it afterwards is found
// without reading the text again. Values are numbered in the order in which they begin, the outermost is 0. Safe for
// concurrent reading.
type Tape struct {
	text  []byte
	names []byte // the plain forms of members' names that have escapes
	nodes []node
	room  [fewNodes]node
}

// node is a value, or a member's name, which is ahead of its value.
type node struct {
	off, end uint32 // of a value with its quotes or brackets, of a name without
	next     uint32 // of a value: the number behind all that it holds; of a name: where it is
}

// Where a member's name is.
const (
	nameInText  = iota
	nameInNames // it has escapes in the text
)

// fewNodes is how many nodes a Tape has room for without more memory: those of a question and its instructions.
const fewNodes = 40

// bytesPerNode is how much text there is to a node, in bytes, about, in a conversation of many blocks.
const bytesPerNode = 32

// nodeBytes is the size of a node, in bytes.
const nodeBytes = 12

// NewTape checks b as Check does, and notes its values. b must not change while the Tape is in use. The error is an
// *Error.
func NewTape(b []byte, depth int) (*Tape, error) {
	t := &Tape{text: b}
	t.nodes = t.room[:0]
	if err := check(b, depth, t); err != nil {
		return nil, err
	}
	return t, nil
}

// note reads one value of any kind.
func (t *Tape) note(c *Cursor) {
	kind := c.Peek()
	i := t.add(node{off: uint32(c.i)})
	switch kind {
	case '{':
		c.Enter('{')
		for name, ok := c.key(); ok; name, ok = c.key() {
			where := uint32(nameInText)
			if name.form == formArena {
				where = nameInNames
			}
			t.add(node{name.off, name.end, where})
			t.note(c)
		}
	case '[':
		for c.Enter('['); c.More(); {
			t.note(c)
		}
	default:
		c.Skip()
	}
	t.nodes[i].end, t.nodes[i].next = uint32(c.i), uint32(len(t.nodes))
}

// add adds a node, and returns its number.
func (t *Tape) add(n node) int {
	if n := len(t.nodes); n == cap(t.nodes) {
		t.nodes = slices.Grow(t.nodes, max(n, len(t.text)/bytesPerNode)) // doubling: see parser.members
	}
	t.nodes = append(t.nodes, n)
	return len(t.nodes) - 1
}

// Text returns the text.
func (t *Tape) Text() []byte { return t.text }

// Bytes returns how much memory the Tape takes besides the text.
func (t *Tape) Bytes() int { return nodeBytes*cap(t.nodes) + cap(t.names) }

// Raw returns how a value stands in the text, without white space around it.
func (t *Tape) Raw(value int) []byte {
	n := &t.nodes[value]
	return t.text[n.off:n.end:n.end]
}

// Holds returns true if inner is a value within outer, or outer itself.
func (t *Tape) Holds(outer, inner int) bool {
	return outer <= inner && inner < int(t.nodes[outer].next)
}

// Items walks over the elements of an array, or the members of an object. Any other value has none.
//
//	for items := t.Items(0); items.Next(); {
//		raw := t.Raw(items.Value)
//	}
type Items struct {
	Value int // the number of the one that Next has come to

	tape      *Tape
	next, end int
	members   bool
}

// Items returns a walk over what a value holds.
func (t *Tape) Items(value int) Items {
	n := &t.nodes[value]
	return Items{tape: t, next: value + 1, end: int(n.next), members: t.text[n.off] == '{'}
}

// Next goes on to the next item, false at the end.
func (i *Items) Next() bool {
	if i.next >= i.end {
		return false
	}
	i.Value = i.next
	if i.members {
		i.Value++ // behind its name
	}
	i.next = int(i.tape.nodes[i.Value].next)
	return true
}

// Name returns the name of the member that Next has come to, unescaped; nil of an element.
func (i *Items) Name() []byte {
	if !i.members {
		return nil
	}
	name := &i.tape.nodes[i.Value-1]
	in := i.tape.text
	if name.next == nameInNames {
		in = i.tape.names
	}
	return in[name.off:name.end:name.end]
}

// Splice is Request.Splice for an object that was not parsed.
func (t *Tape) Splice(edits []Edit, dst [][]byte) [][]byte {
	if len(edits) == 0 {
		return append(dst, t.text)
	}
	out := splicer{b: t.text, dst: dst}
	var done uint
	cuts := make([]cut, 0, len(edits))
	for items := t.Items(0); items.Next(); {
		for i := range edits {
			if edits[i].Key == string(items.Name()) {
				n := &t.nodes[items.Value]
				cuts = append(cuts, cut{off: int(n.off), end: int(n.end), edit: i})
				done |= 1 << i
			}
		}
	}
	out.copyTo(int(t.nodes[0].off) + 1) // its brace
	var pieces []byte
	for i := range edits {
		if done&(1<<i) == 0 {
			pieces = out.insert(pieces, &edits[i])
		}
	}
	for _, c := range cuts {
		out.copyTo(c.off)
		out.dst = append(out.dst, edits[c.edit].Raw)
		out.i = c.end
	}
	out.copyTo(len(t.text))
	return out.dst
}
