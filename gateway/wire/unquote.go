package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnquoted appends the plain form of raw, the inside of a valid JSON string. A lone surrogate becomes U+FFFD.
// The plain form is never longer than raw; what dst has room for behind it may be written over.
func AppendUnquoted(dst, raw []byte) []byte {
	dst = slices.Grow(dst, len(raw)+block)
	for len(raw) > 0 {
		read, wrote := unquote(dst[len(dst):cap(dst)], raw)
		dst, raw = dst[:len(dst)+wrote], raw[read:]
		for len(raw) > 1 && raw[0] == '\\' && raw[1] == 'u' {
			dst, raw = appendHexes(dst, raw)
		}
	}
	return dst
}

// unquoteByRuns writes to dst what raw stands for, up to an escape that is not of one letter. It is unquote for
// machines of which nothing is known.
func unquoteByRuns(dst, raw []byte) (read, wrote int) {
	out, rest := dst[:0], raw
	for len(rest) > 0 {
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			return len(raw), len(append(out, rest...))
		}
		out = append(out, rest[:n]...)
		if rest = rest[n:]; escapes[rest[1]] == 0 {
			break
		}
		out = append(out, escapes[rest[1]])
		rest = rest[2:]
	}
	return len(raw) - len(rest), len(out)
}

// appendHexes appends what the \uXXXX at the front of raw stands for, and others right behind it, up to and with the
// first surrogate. Their digits are good, and dst has room for as many bytes as raw has.
func appendHexes(dst, raw []byte) (appended, rest []byte) {
	n := len(dst)
	dst = dst[:cap(dst)]
	for len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
		r := fourDigits(binary.LittleEndian.Uint32(raw[2:]))
		switch {
		case r < utf8.RuneSelf:
			dst[n] = byte(r)
			n++
		case r < 0x800:
			dst[n], dst[n+1] = 0xC0|byte(r>>6), 0x80|byte(r)&0x3F
			n += 2
		case r&0xF800 == 0xD800:
			r, read := decodeEscape(raw)
			return utf8.AppendRune(dst[:n], r), raw[read:]
		default:
			dst[n], dst[n+1], dst[n+2] = 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F
			n += 3
		}
		raw = raw[6:]
	}
	return dst[:n], raw
}

// fourDigits is the value of four good hexadecimal digits, of which the first is in the lowest byte.
func fourDigits(w uint32) uint32 {
	const each = 0x01010101
	w = w&(0xF*each) + w>>6&each*9 // a letter's low half is 1 for A
	w = (w<<4 | w>>8) & 0x00FF00FF // pairs
	return w&0xFF<<8 | w>>16
}

// ValidQuoted reports whether raw could stand between the quotes of a JSON string; its UTF-8 is not judged.
func ValidQuoted(raw []byte) bool {
	if fewPlain(raw) {
		return true
	}
	for i := 0; ; {
		if i, _ = pass(raw, i); i == len(raw) {
			return true
		}
		if raw[i] != '\\' {
			return false
		}
		_, n := decodeEscape(raw[i:])
		if n == 0 {
			return false
		}
		i += n
	}
}

// fewPlain reports whether raw is of 4 to 16 bytes of which none is special, as most tokens are.
func fewPlain(raw []byte) bool {
	n := len(raw)
	switch {
	case n >= 8 && n <= 16:
		return (special(binary.LittleEndian.Uint64(raw))|special(binary.LittleEndian.Uint64(raw[n-8:])))&highs == 0
	case n >= 4 && n < 8:
		w := uint64(binary.LittleEndian.Uint32(raw)) | uint64(binary.LittleEndian.Uint32(raw[n-4:]))<<32
		return special(w)&highs == 0
	}
	return false
}

// escapes are what stands for each byte behind a backslash; 0 for what may not stand there by itself.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeEscape reads \uXXXX, or a surrogate pair of two, at the front of b and returns the rune and the length.
// A lone surrogate is U+FFFD; length 0 means bad digits.
func decodeEscape(b []byte) (rune, int) {
	hi, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(hi) {
		return hi, 6
	}
	if lo, ok := hex4(b[6:]); ok {
		if r := utf16.DecodeRune(hi, lo); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

// isReplacement tells \ufffd spelt out from the U+FFFD that stands for a lone surrogate.
func isReplacement(b []byte) bool {
	r, _ := hex4(b)
	return r == utf8.RuneError
}

// hex4 reads \uXXXX at the front of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	p, q, r, s := hexDigit[b[2]], hexDigit[b[3]], hexDigit[b[4]], hexDigit[b[5]]
	if p&q&r&s&isHex == 0 {
		return 0, false
	}
	return rune(p&15)<<12 | rune(q&15)<<8 | rune(r&15)<<4 | rune(s&15), true
}

// isHex marks what hexDigit knows.
const isHex = 0x10

// hexDigit is the value of each hexadecimal digit, and isHex; 0 for any other byte.
var hexDigit = [256]uint8{
	'0': 0x10, '1': 0x11, '2': 0x12, '3': 0x13, '4': 0x14, '5': 0x15, '6': 0x16, '7': 0x17, '8': 0x18, '9': 0x19,
	'a': 0x1a, 'b': 0x1b, 'c': 0x1c, 'd': 0x1d, 'e': 0x1e, 'f': 0x1f,
	'A': 0x1a, 'B': 0x1b, 'C': 0x1c, 'D': 0x1d, 'E': 0x1e, 'F': 0x1f,
}
