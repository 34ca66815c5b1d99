package classifier

import "bytes"

// scanner reads a text once, as C++ that may stand among prose and logs: comments, strings, character and raw literals
// and directives are not looked into, lines that a tool printed are told by their shape, and what remains is read
// identifier by identifier.
//
// Cost: every byte is passed once, and looked ahead at a bounded number of times, whatever the text: steps counts both.
// An unfinished raw string or comment is searched for its end once in a text, then taken for something else.
type scanner struct {
	text []byte
	at   int
	prev byte // the last byte that was not blank, before at; 0 at the start
	seen sheet

	openRaw, openBlock bool // an end was missing: no further one is looked for
	steps              int
}

// class says what a byte can begin.
type class uint8

const (
	other class = iota
	blank
	newline
	letter
	digit
	quote
	slash
)

var classes = func() (t [256]class) {
	for b := range 256 {
		switch c := byte(b); {
		case c == '\n':
			t[b] = newline
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			t[b] = blank
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_':
			t[b] = letter
		case c >= '0' && c <= '9':
			t[b] = digit
		case c == '"' || c == '\'':
			t[b] = quote
		case c == '/':
			t[b] = slash
		}
	}
	return t
}()

// scan counts the cues of text into seen.
func scan(text []byte, seen *sheet) (steps int) {
	s := scanner{text: text, seen: *seen}
	s.line()
	for s.at < len(s.text) {
		s.token()
	}
	*seen = s.seen
	return s.steps
}

// token passes one token.
func (s *scanner) token() {
	c := s.text[s.at]
	switch classes[c] {
	case blank:
		s.pass(1)
		return
	case newline:
		s.pass(1)
		s.line()
		return
	case letter:
		s.word()
		return
	case digit:
		s.number()
	case quote:
		s.literal(c)
	case slash:
		s.comment()
		return
	default:
		s.punctuation(c)
	}
	s.prev = c
}

func (s *scanner) pass(n int) {
	s.at += n
	s.steps += n
}

// rest is the text from n bytes on from here.
func (s *scanner) rest(n int) []byte { return s.text[min(s.at+n, len(s.text)):] }

// peek is the byte n from here, 0 beyond the end.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.text) {
		return s.text[s.at+n]
	}
	return 0
}

// after is the first byte from n on that is not blank, newlines included; it looks 16 bytes far.
func (s *scanner) after(n int) byte {
	for i := n; i < n+16; i++ {
		s.steps++
		if c := s.peek(i); classes[c] != blank && classes[c] != newline {
			return c
		}
	}
	return 0
}

// number passes 0x1F, 1'000'000 or 1e-9, so that its letters and quotes are not taken for others.
func (s *scanner) number() {
	s.pass(1)
	for {
		switch c := s.peek(0); {
		case classes[c] == letter || classes[c] == digit || c == '.':
		case c == '\'' && (classes[s.peek(1)] == digit || classes[s.peek(1)] == letter):
		default:
			return
		}
		s.pass(1)
	}
}

// literal passes a string or character literal. A string ends with its line at the latest; an apostrophe that no other
// follows within ten bytes is one.
func (s *scanner) literal(mark byte) {
	limit := len(s.text) - s.at
	if mark == '\'' {
		limit = min(limit, 12)
	}
	for i := 1; i < limit; i++ {
		s.steps++
		switch s.text[s.at+i] {
		case mark:
			s.pass(i + 1)
			return
		case '\\':
			i++
		case '\n':
			limit = i
		}
	}
	if mark == '\'' {
		s.pass(1)
		return
	}
	s.pass(min(limit, len(s.text)-s.at))
}

// comment passes // to the end of the line and /* to its end; any other slash is a slash.
func (s *scanner) comment() {
	switch next := s.peek(1); {
	case next == '/' && s.prev != ':': // not https://
		end := bytes.IndexByte(s.rest(0), '\n')
		if end < 0 {
			end = len(s.text) - s.at
		}
		s.pass(end)
		return
	case next == '*' && !s.openBlock:
		if end := bytes.Index(s.rest(2), []byte("*/")); end >= 0 {
			s.pass(end + 4)
			return
		}
		s.openBlock = true
		s.steps += len(s.text) - s.at
	}
	s.pass(1)
	s.prev = '/'
}

// raw passes a raw string literal, whose R stands here, and says whether there was one.
func (s *scanner) raw() bool {
	if s.peek(1) != '"' || s.openRaw {
		return false
	}
	tag := s.rest(2)
	open := bytes.IndexByte(tag[:min(17, len(tag))], '(')
	s.steps += 17
	if open < 0 {
		return false
	}
	var mark [19]byte
	closing := append(append(append(mark[:0], ')'), tag[:open]...), '"')
	end := bytes.Index(tag[open:], closing)
	if end < 0 {
		s.openRaw = true
		s.steps += len(tag)
		return false
	}
	s.pass(2 + open + end + len(closing))
	s.prev = '"'
	return true
}

// punctuation passes an operator; "..." behind an identifier and before what may follow a pack is an expansion.
func (s *scanner) punctuation(c byte) {
	if c == '.' && s.peek(1) == '.' && s.peek(2) == '.' {
		if next := s.after(3); (next == '>' || next == ')' || next == ',') &&
			(classes[s.prev] == letter || s.prev == ')' || s.prev == '>') {
			s.seen[cuePack]++
		}
		s.pass(3)
		return
	}
	if c == '$' && s.peek(1) == '(' && s.prev != '$' {
		s.makeVariable()
	}
	s.pass(1)
}
