// Package field says what may stand in the lines of an HTTP/1.1 head (RFC 9110, section 5). It looks at eight bytes at
// a time.
package field

import "math/bits"

// Text is what a head lies in.
type Text interface{ ~string | ~[]byte }

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// load returns the eight bytes of s from at on, the first of them lowest.
func load[T Text](s T, at int) uint64 {
	s = s[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Control returns where the first control character of s is, the tab included, at or after at; len(s) where there is
// none.
func Control[T Text](s T, at int) int {
	for ; at+8 <= len(s); at += 8 {
		if found := controls(load(s, at)); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for ; at < len(s); at++ {
		if s[at] < ' ' || s[at] == 0x7f {
			return at
		}
	}
	return at
}

// controls has the top bit of each byte of x set that is one, up to the first of them; what follows it may be wrong.
func controls(x uint64) uint64 {
	deletes := x ^ 0x7f*ones
	return ((x-' '*ones)&^x | (deletes-ones)&^deletes) & tops
}

// IsValue reports whether s may be a field's value: no control character but the tab.
func IsValue[T Text](s T) bool {
	for at := Control(s, 0); at < len(s); at = Control(s, at+1) {
		if s[at] != '\t' {
			return false
		}
	}
	return true
}

// IsVisible reports whether s is made of printing ASCII characters alone: no space, no control character.
func IsVisible[T Text](s T) bool {
	at := 0
	for ; at+8 <= len(s); at += 8 {
		if x := load(s, at); (x|(x+ones))&tops != 0 || (x+(0x80-'!')*ones)&tops != tops {
			return false
		}
	}
	for ; at < len(s); at++ {
		if s[at] <= ' ' || s[at] >= 0x7f {
			return false
		}
	}
	return true
}

// IsName reports whether s is a token: what methods and the names of fields are made of.
func IsName[T Text](s T) bool {
	at := 0
	for at+8 <= len(s) && lettersAndDashes(load(s, at)) {
		at += 8
	}
	if rest := len(s) - 8; rest >= 0 && at > rest && lettersAndDashes(load(s, rest)) {
		return true
	}
	for ; at < len(s); at++ {
		if !names[s[at]] {
			return false
		}
	}
	return len(s) > 0
}

// lettersAndDashes reports whether x is nothing else, as most names are.
func lettersAndDashes(x uint64) bool {
	low := x &^ tops
	small := low | ' '*ones
	letters := (small + (0x80-'a')*ones) &^ (small + (0x7f-'z')*ones)
	dashes := ^((low ^ '-'*ones) + 0x7f*ones)
	return (letters|dashes)&^x&tops == tops
}

// IsNameByte reports whether b may stand in a name.
func IsNameByte(b byte) bool { return names[b] }

// IsValueByte reports whether b may stand in a value.
func IsValueByte(b byte) bool { return b >= ' ' && b != 0x7f || b == '\t' }

var names = func() (t [256]bool) {
	const set = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&'*+-.^_`|~"
	for i := range len(set) {
		t[set[i]] = true
	}
	return t
}()

// Trim takes the blanks off both ends.
func Trim[T Text](s T) T {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// Fold reports whether s is the word, which is in lower case, in any case of ASCII letters and of those alone.
func Fold[T Text](s T, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range len(s) {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != word[i] {
			return false
		}
	}
	return true
}
