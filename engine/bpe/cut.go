package bpe

import "strings"

// Cut returns the first place at or after from where text may be cut: whatever stood before and will stand behind, the
// ids of text[:cut] and then those of text[cut:], encoded in the place that is returned, are those of the whole. It
// looks no further than text[limit]; 0 when there is no such place. 0 < from.
//
// It cuts behind an added token that nothing else can take part of, and before a ' ' behind what is no white space:
// every splitting pattern ends a word there, for all of them take a ' ' as a word's beginning or among white space
// only.
func (t *Tokenizer) Cut(text []byte, from, limit int) (int, Place) {
	for at := from; at <= min(limit, len(text)); at++ {
		if t.endsAdded(text[:at]) {
			return at, After
		}
		if t.spaceCuts && at < len(text) && text[at] == ' ' && t.endsSolid(text[:at]) {
			return at, Inside
		}
	}
	return 0, Start
}

// endsAdded reports whether text ends with a clean added token.
func (t *Tokenizer) endsAdded(text []byte) bool {
	if t.raw == nil || !t.raw.last[text[len(text)-1]] {
		return false
	}
	for i := range t.raw.tokens {
		if a := &t.raw.tokens[i]; a.clean && len(a.content) <= len(text) &&
			string(text[len(text)-len(a.content):]) == a.content {
			return true
		}
	}
	return false
}

// endsSolid reports whether text ends with a character that is no white space, none of the marks that stand for it, and
// not an added token that would take the white space behind it along.
func (t *Tokenizer) endsSolid(text []byte) bool {
	if t.classes.before(text, len(text))&space != 0 {
		return false
	}
	end := string(text[max(0, len(text)-maxEnd):])
	if strings.HasSuffix(end, metaspaceMark) {
		return false
	}
	for _, content := range t.rstrips {
		if strings.HasSuffix(end, content) || len(content) > maxEnd {
			return false
		}
	}
	return true
}

// maxEnd is the most bytes of an added token that takes white space along, beyond which nothing is cut at spaces.
const maxEnd = 256
