package wire

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// A text has one wording: the inside of a JSON string with what must be escaped in its shortest form, and all else as
// it is. Texts that mean the same have the same wording, and others another. Most bodies spell their texts so, which
// saves a copy.

// Wording appends the prompt in pieces, which live as long as the body and until the next Wording, Parse or Reset: the
// wordings of all messages in their frames, each with a newline between its parts, with the tools and calls that shown
// has in it; of a completion that of its first prompt, if it is text, and nothing else.
func (r *Request) Wording(dst [][]byte, f *Frames, shown Shown) [][]byte {
	r.worded = r.worded[:0]
	if r.Kind == Completion {
		return r.PromptWording(0, dst)
	}
	w := writing{r: r, pieces: dst, out: r.worded}
	w.chat(f, shown)
	return w.end()
}

// PromptWording appends the wording of a completion's prompt i, if it is text, in pieces that live as long as those of
// Wording.
func (r *Request) PromptWording(i int, dst [][]byte) [][]byte {
	w := writing{r: r, pieces: dst, out: r.worded, done: len(r.worded)}
	if i < len(r.prompts) && r.prompts[i].tokens == 0 {
		w.text(r.prompts[i].text)
		if r.suffix != (text{}) {
			w.said("\n") // which no wording has
			w.text(r.suffix)
		}
	}
	return w.end()
}

// writing is a prompt that is written: as plain text, or as the pieces of its wording, which are long texts as they lie
// and what is between them in one piece each, joined.
type writing struct {
	r      *Request
	plain  bool
	pieces [][]byte
	out    []byte // of a wording, the request's worded
	done   int    // out[:done] is in pieces. Where out moves, they stay behind

	pictured int // images that are written
}

func (w *writing) mark(s []byte) { w.out = append(w.out, s...) }
func (w *writing) said(s string) { w.out = append(w.out, s...) }

// message writes the text of message i, and returns true if that is nothing.
func (w *writing) message(i int) (empty bool) {
	m := &w.r.messages[i]
	if w.plain {
		from := len(w.out)
		w.out = w.r.AppendText(w.out, i)
		return len(w.out) == from
	}
	parts := w.r.parts[m.from:m.to]
	if len(parts) == 0 {
		w.text(m.text)
		return !w.pictures(i, m.to) && m.text.off == m.text.end
	}
	empty = len(parts) == 1 && parts[0].off == parts[0].end
	for k, part := range parts {
		empty = !w.pictures(i, m.from+uint32(k)) && empty
		if k > 0 {
			w.said(`\n`)
		}
		w.text(part)
	}
	return !w.pictures(i, m.to) && empty
}

// longText is from how many bytes on a text is left where it lies: hashing what is cut costs as much as a copy of some
// hundred bytes.
const longText = 1 << 10

// text writes a string.
func (w *writing) text(t text) {
	switch {
	case w.plain:
		w.out = w.r.appendPlain(w.out, t)
	case t.form&formLoose != 0:
		w.out = appendWording(w.out, w.r.p.bytes(t))
	default:
		w.raw(w.r.p.bytes(t))
	}
}

// json writes a value in its compact form; loose tells that raw may be another.
func (w *writing) json(raw []byte, loose bool) {
	if loose {
		w.out = appendCompact(w.out, raw)
		return
	}
	w.raw(raw)
}

// raw writes s, which stays where it is if it is long.
func (w *writing) raw(s []byte) {
	if w.plain || len(s) < longText {
		w.out = append(w.out, s...)
		return
	}
	w.pieces = append(w.end(), s)
}

// end returns the pieces with what is not yet among them.
func (w *writing) end() [][]byte {
	w.r.worded = w.out
	if n := len(w.out); n > w.done {
		w.pieces = append(w.pieces, w.out[w.done:n:n])
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

// appendCompact appends valid JSON without white space between its parts, and with its strings in their wording. It is
// never longer than raw.
func appendCompact(dst, raw []byte) []byte {
	from := 0
	for i := 0; i < len(raw); {
		switch ch := raw[i]; {
		case ch == '"':
			end, _ := pass(raw, i+1)
			dst = append(dst, raw[from:i+1]...)
			dst = appendWording(dst, raw[i+1:end])
			from, i = end, end+1
		case ch <= ' ':
			dst = append(dst, raw[from:i]...)
			from, i = i+1, i+1
		default:
			i++
		}
	}
	return append(dst, raw[from:]...)
}
