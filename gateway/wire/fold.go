package wire

import "unicode/utf8"

// refuseCase refuses the member name when it is one that known reads, but for its case: an engine that folds case would
// read a parameter that was not judged here.
func (p *parser) refuseCase(name []byte, known func([]byte) bool) {
	if len(name) > maxKnown || isFolded(name) {
		return
	}
	var changed bool
	if p.folded, changed = appendFolded(p.folded[:0], name); !changed || !known(p.folded) {
		return
	}
	p.under(string(name))
	p.refuse(CodeInvalidRequest, "has the wrong case: the parameter is "+string(p.folded))
	p.up()
}

// isFolded reports whether name is of ASCII without capitals: nothing in it folds.
func isFolded(name []byte) bool {
	for _, ch := range name {
		if ch-'A' <= 'Z'-'A' || ch >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxKnown is longer than any known name, in bytes, however it is spelt.
const maxKnown = 96

// appendFolded appends name in lower case, letters being what can fold to ASCII: A to Z, the long s and the Kelvin
// sign.
func appendFolded(dst, name []byte) (folded []byte, changed bool) {
	for _, r := range string(name) {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r == 'ſ':
			r = 's'
		case r == '\u212A':
			r = 'k'
		case r < 0x80:
			dst = append(dst, byte(r))
			continue
		default:
			return dst, false
		}
		dst = append(dst, byte(r))
		changed = true
	}
	return dst, changed
}
