package bpe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a segment before it is split. The zero normalizer changes nothing.
type normalizer struct {
	steps []step
}

// step is one of: a Unicode form, a replacement, a text put in front.
type step struct {
	form    norm.Form
	unicode bool
	old     []byte // replaced by text; nil: text is put in front
	text    []byte
}

// readNormalizer returns what c says.
func readNormalizer(c *component) (n normalizer, err error) {
	forms := map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}
	form, isForm := forms[c.Type]
	switch {
	case c.Type == "":
	case isForm:
		n.steps = []step{{form: form, unicode: true}}
	case c.Type == "Prepend" && c.Prepend != "":
		n.steps = []step{{text: []byte(c.Prepend)}}
	case c.Type == "Replace" && c.Pattern.String != nil && *c.Pattern.String != "":
		n.steps = []step{{old: []byte(*c.Pattern.String), text: []byte(c.Content)}}
	case c.Type == "Sequence":
		for i := range c.Normalizers {
			one, err := readNormalizer(&c.Normalizers[i])
			if err != nil {
				return n, err
			}
			n.steps = append(n.steps, one.steps...)
		}
	default:
		return n, fmt.Errorf("%w: normalizer %q", ErrUnsupported, c.Type)
	}
	return n, nil
}

// apply returns text normalised: itself where nothing changes, else new or in the memory of buf, which it may grow. A
// text that goes on a segment whose beginning was encoded before (inside) has nothing put in front.
func (n *normalizer) apply(buf *[]byte, text []byte, inside bool) []byte {
	for _, s := range n.steps {
		switch {
		case s.unicode:
			if !ascii(text) && !s.form.IsNormal(text) {
				text = s.form.Bytes(text)
			}
		case s.old != nil:
			text = bytes.ReplaceAll(text, s.old, s.text)
		case !inside && len(text) > 0:
			*buf = append(append((*buf)[:0], s.text...), text...)
			text = *buf
		}
	}
	return text
}

// ascii reports whether text is nothing but ASCII, which all forms leave alone.
func ascii(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		if binary.LittleEndian.Uint64(text)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spaceSafe reports whether cutting before a ' ' that follows a character that is no white space, and normalising both
// parts, gives the whole normalised.
func (n *normalizer) spaceSafe() bool {
	for _, s := range n.steps {
		spans := bytes.IndexByte(s.old, ' ') > 0 || len(s.old) > 1 && s.old[0] == ' '
		if s.unicode && s.form != norm.NFC || s.old != nil && spans {
			return false
		}
	}
	return true
}
