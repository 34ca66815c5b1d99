package calibration

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// maxTokens bounds what is compared of an answer: its first and its last half of that.
const maxTokens = 4096

// seed is of token hashes, which never leave the process.
var seed = maphash.MakeSeed()

// tokens collects hashed tokens, the first and the last maxTokens/2.
type tokens struct {
	head []uint64
	tail []uint64 // a ring once it is full
	next int
}

func (t *tokens) add(token []byte) {
	h := maphash.Bytes(seed, token)
	switch {
	case len(t.head) < maxTokens/2:
		t.head = append(t.head, h)
	case len(t.tail) < maxTokens/2:
		t.tail = append(t.tail, h)
	default:
		t.tail[t.next] = h
		t.next = (t.next + 1) % len(t.tail)
	}
}

func (t *tokens) all() []uint64 {
	return append(append(t.head, t.tail[t.next:]...), t.tail[:t.next]...)
}

// words splits prose: letters and digits make words, everything else but spaces stands alone.
func words(text []byte) []uint64 {
	var t tokens
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		n := size
		if wordly(r) {
			n = wordEnd(text[i:])
		}
		if !unicode.IsSpace(r) {
			t.add(text[i : i+n])
		}
		i += n
	}
	return t.all()
}

func wordly(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordEnd(text []byte) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if !wordly(r) {
			break
		}
		n += size
	}
	return n
}

// lex splits code of the C family, and what resembles it: comments and spaces are nothing, a literal is one token, so
// that layout and remarks make no difference.
func lex(code []byte) []uint64 {
	var t tokens
	for i := 0; i < len(code); {
		rest := code[i:]
		n := comment(rest)
		if n == 0 {
			if n = literal(rest); n == 0 {
				n = wordEnd(rest)
			}
			if n == 0 {
				_, n = utf8.DecodeRune(rest)
			}
			if r, _ := utf8.DecodeRune(rest); !unicode.IsSpace(r) {
				t.add(rest[:n])
			}
		}
		i += n
	}
	return t.all()
}

// comment returns the length of the comment at the beginning of code, zero without one.
func comment(code []byte) int {
	if len(code) < 2 || code[0] != '/' {
		return 0
	}
	switch code[1] {
	case '/':
		return lineEnd(code)
	case '*':
		for i := 3; i < len(code); i++ {
			if code[i] == '/' && code[i-1] == '*' {
				return i + 1
			}
		}
		return len(code)
	}
	return 0
}

func lineEnd(code []byte) int {
	for i, c := range code {
		if c == '\n' {
			return i
		}
	}
	return len(code)
}

// literal returns the length of the string or character that code begins with, to the end of its line where nothing
// ends it.
func literal(code []byte) int {
	quote := code[0]
	if quote != '"' && quote != '\'' {
		return 0
	}
	for i := 1; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(code)
}
