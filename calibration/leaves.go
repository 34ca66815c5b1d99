package calibration

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
)

// leaves is a JSON value without the order of its members: a hash of each of its scalars and empty containers with the
// way there. Two values are equal where their leaves are.
type leaves []uint64

// leavesOf returns the sorted leaves of a text that is one JSON value, false for any other text. Of members of one name
// the last counts, as decoders have it. Numbers are the same that have the same decimal value: 1, 1.0 and 1e0 are, and
// so are 0 and -0; two integers that a float cannot tell apart are not.
func leavesOf(text []byte) (leaves, bool) {
	text = bytes.Trim(text, spaces)
	if !json.Valid(text) {
		return nil, false
	}
	w := leafWalk{text: text}
	w.value(seeded(0, nil))
	if w.repeats {
		w = leafWalk{text: withoutRepeats(text)}
		w.value(seeded(0, nil))
	}
	slices.Sort(w.out)
	return w.out, true
}

// spaces are those that may be around a JSON value.
const spaces = " \t\r\n"

// withoutRepeats is valid JSON with the last of members of one name alone.
func withoutRepeats(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []byte("null") // valid JSON decodes
	}
	out, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return out
}

// leafWalk walks valid JSON.
type leafWalk struct {
	text    []byte
	at      int
	out     leaves
	names   []uint64 // hashes of the members of the objects that are open
	repeats bool     // an object has two members of one name
}

// seeded is a hash of part below path, the way to it.
func seeded(path uint64, part []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var b [8]byte
	for i := range b {
		b[i] = byte(path >> (8 * i))
	}
	h.Write(b[:])
	h.Write(part)
	return h.Sum64()
}

func (w *leafWalk) leaf(path uint64, kind byte, value []byte) {
	w.out = append(w.out, seeded(seeded(path, []byte{'=', kind}), value))
}

// peek returns the next byte that is no space.
func (w *leafWalk) peek() byte {
	for w.text[w.at] <= ' ' {
		w.at++
	}
	return w.text[w.at]
}

// value takes on the value that begins next.
func (w *leafWalk) value(path uint64) {
	switch ch := w.peek(); ch {
	case '{':
		w.object(path)
	case '[':
		w.array(path)
	case '"':
		w.leaf(path, ch, w.quoted())
	case 't', 'f', 'n':
		w.leaf(path, ch, nil)
		w.at += len("true")
		if ch == 'f' {
			w.at++
		}
	default:
		w.leaf(path, '0', decimal(w.number()))
	}
}

func (w *leafWalk) object(path uint64) {
	begun := len(w.names)
	for w.at++; w.peek() != '}'; {
		name := seeded(path, append([]byte{'.'}, w.quoted()...))
		w.names = append(w.names, name)
		w.peek()
		w.at++ // the colon
		w.value(name)
		if w.peek() == ',' {
			w.at++
		}
	}
	w.at++
	own := w.names[begun:]
	if len(own) == 0 {
		w.leaf(path, '{', nil)
	}
	slices.Sort(own)
	w.repeats = w.repeats || len(slices.Compact(own)) < len(own)
	w.names = w.names[:begun]
}

func (w *leafWalk) array(path uint64) {
	w.at++
	n := 0
	for ; w.peek() != ']'; n++ {
		w.value(seeded(path, strconv.AppendInt([]byte{'['}, int64(n), 10)))
		if w.peek() == ',' {
			w.at++
		}
	}
	w.at++
	if n == 0 {
		w.leaf(path, '[', nil)
	}
}

// quoted returns the plain form of the string that is next.
func (w *leafWalk) quoted() []byte {
	from, plain := w.at, true
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if c := w.text[w.at]; c == '\\' {
			plain = false
			w.at++
		} else if c >= 0x80 {
			plain = false // it may be no UTF-8
		}
	}
	w.at++
	if plain {
		return w.text[from+1 : w.at-1]
	}
	var s string
	if err := json.Unmarshal(w.text[from:w.at], &s); err != nil {
		return w.text[from:w.at] // valid JSON decodes
	}
	return []byte(s)
}

// number returns the number that is next.
func (w *leafWalk) number() []byte {
	from := w.at
	for w.at < len(w.text) && bytes.IndexByte([]byte("+-.0123456789Ee"), w.text[w.at]) >= 0 {
		w.at++
	}
	return w.text[from:w.at]
}
