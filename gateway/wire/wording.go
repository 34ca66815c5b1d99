package wire

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// A text has one wording: the inside of a JSON string with what must be escaped in its shortest form, and all else as it is.
// Texts that mean the same have the same wording, and others another. Most bodies spell their texts so, which saves a copy.

// Frames are what a chat template puts around messages. Each must have a byte that no wording has, such as a control character.
type Frames struct {
	first, next [len(roles)][]byte // before a message, by its role
	last        []byte
}

// FramesOf makes the frames of a template that opens a turn of each role and closes it, and ends with an open turn of the assistant.
func FramesOf(open func(dst []byte, role string) []byte, shut func(dst []byte) []byte) *Frames {
	f := &Frames{last: open(shut(nil), "assistant")}
	for i, role := range roles {
		f.first[i], f.next[i] = open(nil, role), open(shut(nil), role)
	}
	return f
}

// Wording appends the prompt in pieces, which live as long as the body and until the next Parse or Reset: the wordings of all messages
// in their frames, each with a newline between its parts; of a completion those of its text prompts, and nothing else.
func (r *Request) Wording(dst [][]byte, f *Frames) [][]byte {
	r.worded = r.worded[:0] // another call would write the same
	if r.Kind == Completion {
		for i := range r.prompts {
			if r.prompts[i].tokens == 0 {
				dst = append(dst, r.wording(r.prompts[i].text))
			}
		}
		return dst
	}
	frames := &f.first
	for i := range r.messages {
		m := &r.messages[i]
		dst = r.messageWording(append(dst, frames[m.role]), m)
		frames = &f.next
	}
	return append(dst, f.last)
}

func (r *Request) messageWording(dst [][]byte, m *message) [][]byte {
	if m.from == m.to {
		return append(dst, r.wording(m.text))
	}
	for k, part := range r.parts[m.from:m.to] {
		if k > 0 {
			dst = append(dst, newline)
		}
		dst = append(dst, r.wording(part))
	}
	return dst
}

// newline is one's wording.
var newline = []byte(`\n`)

// wording is that of a text of the body.
func (r *Request) wording(t text) []byte {
	raw := r.p.bytes(t)
	if t.form&formLoose == 0 {
		return raw
	}
	if cap(r.worded) < len(r.p.b) {
		r.worded = make([]byte, 0, len(r.p.b))
	}
	n := len(r.worded)
	r.worded = appendWording(r.worded, raw)
	return r.worded[n:len(r.worded):len(r.worded)]
}

// appendWording appends the wording of raw, the inside of a valid JSON string, which is never longer than raw. A lone surrogate
// becomes U+FFFD.
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
