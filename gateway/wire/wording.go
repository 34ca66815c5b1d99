package wire

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// A text has one wording: the inside of a JSON string with what must be escaped in its shortest form, and all else as
// it is. Texts that mean the same have the same wording, and others another. Most bodies spell their texts so, which
// saves a copy.

// Frames are what a chat template puts around messages. Each must have a byte that no wording has, such as a control
// character.
type Frames struct {
	first, next [len(roles)][]byte // before a message, by its role
	last        []byte
}

// FramesOf makes the frames of a template that opens a turn of each role and closes it, and ends with an open turn of
// the assistant.
func FramesOf(open func(dst []byte, role string) []byte, shut func(dst []byte) []byte) *Frames {
	f := &Frames{last: open(shut(nil), "assistant")}
	for i, role := range roles {
		f.first[i], f.next[i] = open(nil, role), open(shut(nil), role)
	}
	return f
}

// Wording appends the prompt in pieces, which live as long as the body and until the next Wording, Parse or Reset: the
// wordings of all messages in their frames, each with a newline between its parts; of a completion that of its first
// prompt, if it is text, and nothing else.
func (r *Request) Wording(dst [][]byte, f *Frames) [][]byte {
	r.worded = r.worded[:0]
	if r.Kind == Completion {
		return r.PromptWording(0, dst)
	}
	w := wording{r: r, pieces: dst}
	frames := &f.first
	for i := range r.messages {
		m := &r.messages[i]
		r.worded = append(r.worded, frames[m.role]...)
		w.message(m)
		frames = &f.next
	}
	r.worded = append(r.worded, f.last...)
	return w.end()
}

// PromptWording appends the wording of a completion's prompt i, if it is text, in pieces that live as long as those of
// Wording.
func (r *Request) PromptWording(i int, dst [][]byte) [][]byte {
	w := wording{r: r, pieces: dst, done: len(r.worded)}
	if i < len(r.prompts) && r.prompts[i].tokens == 0 {
		w.add(r.prompts[i].text)
		if r.suffix != (text{}) {
			r.worded = append(r.worded, '\n') // which no wording has
			w.add(r.suffix)
		}
	}
	return w.end()
}

// wording makes the pieces of a prompt: long texts as they lie, and what is between them in one piece each, joined.
type wording struct {
	r      *Request
	pieces [][]byte
	done   int // worded[:done] is in pieces. Where worded moves, they stay behind
}

func (w *wording) message(m *message) {
	if m.from == m.to {
		w.add(m.text)
		return
	}
	for k, part := range w.r.parts[m.from:m.to] {
		if k > 0 {
			w.r.worded = append(w.r.worded, `\n`...)
		}
		w.add(part)
	}
}

// longText is from how many bytes on a text is left where it lies: hashing what is cut costs as much as a copy of some
// hundred bytes.
const longText = 1 << 10

func (w *wording) add(t text) {
	raw := w.r.p.bytes(t)
	switch {
	case t.form&formLoose != 0:
		w.r.worded = appendWording(w.r.worded, raw)
	case len(raw) < longText:
		w.r.worded = append(w.r.worded, raw...)
	default:
		w.pieces = append(w.end(), raw)
	}
}

// end returns the pieces with what is not yet among them.
func (w *wording) end() [][]byte {
	if n := len(w.r.worded); n > w.done {
		w.pieces = append(w.pieces, w.r.worded[w.done:n:n])
		w.done = n
	}
	return w.pieces
}

// appendWording appends the wording of raw, the inside of a valid JSON string, which is never longer than raw. A lone
// surrogate becomes U+FFFD.
func appendWording(dst, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		switch raw = raw[n:]; raw[1] {
		case 'u':
			dst, raw = wordHexes(dst, raw)
		case '/':
			dst, raw = append(dst, '/'), raw[2:]
		default:
			dst, raw = append(dst, raw[:2]...), raw[2:]
		}
	}
}

// wordHexes appends the wording of the \uXXXX at the front of raw, and of others right behind it.
func wordHexes(dst, raw []byte) (worded, rest []byte) {
	for len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
		r, n := rune(fourDigits(binary.LittleEndian.Uint32(raw[2:]))), 6
		if r&^0x7FF == 0xD800 {
			r, n = decodeEscape(raw)
		}
		if r < ' ' || r == '"' || r == '\\' {
			dst = appendEscaped(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		raw = raw[n:]
	}
	return dst, raw
}
