package wire

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnquoted appends the plain form of raw, the inside of a valid JSON string. A lone surrogate becomes U+FFFD.
// The plain form is never longer than raw; what dst has room for behind it may be written over.
func AppendUnquoted(dst, raw []byte) []byte {
	dst = slices.Grow(dst, len(raw)+block)
	for {
		read, wrote := unquote(dst[len(dst):cap(dst)], raw)
		dst, raw = dst[:len(dst)+wrote], raw[read:]
		if len(raw) == 0 {
			return dst
		}
		for len(raw) > 0 && raw[0] == '\\' && escapes[raw[1]] == 0 {
			r, n := decodeEscape(raw)
			dst, raw = utf8.AppendRune(dst, r), raw[n:]
		}
	}
}

// unquoteByRuns writes to dst what raw stands for, up to an escape that is not of one letter. It is unquote for machines of which
// nothing is known.
func unquoteByRuns(dst, raw []byte) (read, wrote int) {
	for {
		n := bytes.IndexByte(raw[read:], '\\')
		if n < 0 {
			n = len(raw) - read
		}
		wrote += copy(dst[wrote:], raw[read:read+n])
		if read += n; read == len(raw) {
			return read, wrote
		}
		ch := escapes[raw[read+1]]
		if ch == 0 {
			return read, wrote
		}
		dst[wrote] = ch
		wrote++
		read += 2
	}
}

// ValidQuoted reports whether raw could stand between the quotes of a JSON string; its UTF-8 is not judged.
func ValidQuoted(raw []byte) bool {
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
	var r rune
	for _, ch := range b[2:6] {
		switch {
		case '0' <= ch && ch <= '9':
			ch -= '0'
		case 'a' <= ch|0x20 && ch|0x20 <= 'f':
			ch = ch | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(ch)
	}
	return r, true
}
