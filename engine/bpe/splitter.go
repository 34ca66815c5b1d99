package bpe

import (
	"bytes"
	"strings"
)

// metaspaceMark is what stands for a space in sentence vocabularies: ▁.
const metaspaceMark = "\u2581"

// splitter cuts a segment into words and encodes them.
type splitter struct {
	pattern  pattern
	classes  *classTable
	addSpace bool // byte-level: a segment that does not begin with a space gets one

	sentence bool // by ▁ instead of by pattern
	meta     bool // spaces become ▁ here, not in the normalizer
	front    func(Place) bool
	each     bool // every ▁ begins a word
	runs     bool // every ▁ behind something else begins one: no token goes across
}

// encode appends the ids of a segment, which is not empty.
func (p *splitter) encode(dst []uint32, text []byte, at Place, v *vocabulary, s *scratch) []uint32 {
	if p.sentence {
		return p.encodeSentence(dst, text, at, v, s)
	}
	if p.addSpace && at != Inside && text[0] != ' ' {
		text = append([]byte{' '}, text...)
	}
	for len(text) > 0 {
		n := p.pattern.word(p.classes, text)
		dst = v.encode(dst, text[:n], s)
		text = text[n:]
	}
	return dst
}

// encodeSentence is encode for vocabularies in which ▁ stands for a space.
func (p *splitter) encodeSentence(dst []uint32, text []byte, at Place, v *vocabulary, s *scratch) []uint32 {
	if p.meta {
		text = bytes.ReplaceAll(text, []byte{' '}, []byte(metaspaceMark))
		if p.front(at) && !bytes.HasPrefix(text, []byte(metaspaceMark)) {
			text = append([]byte(metaspaceMark), text...)
		}
	}
	for len(text) > 0 {
		n := p.word(text)
		dst = v.encode(dst, text[:n], s)
		text = text[n:]
	}
	return dst
}

// word returns the length of the first word of text: all of it where no ▁ is known to begin one.
func (p *splitter) word(text []byte) int {
	if !p.each && !p.runs {
		return len(text)
	}
	from := 0
	if bytes.HasPrefix(text, []byte(metaspaceMark)) {
		from = len(metaspaceMark)
		for !p.each && bytes.HasPrefix(text[from:], []byte(metaspaceMark)) {
			from += len(metaspaceMark)
		}
	}
	if n := bytes.Index(text[from:], []byte(metaspaceMark)); n >= 0 {
		return from + n
	}
	return len(text)
}

// noneAcross reports whether no token has a ▁ behind anything but ▁.
func noneAcross(vocab map[string]uint32) bool {
	for token := range vocab {
		if strings.Contains(strings.TrimLeft(token, metaspaceMark), metaspaceMark) {
			return false
		}
	}
	return true
}
