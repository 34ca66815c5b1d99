package classifier

import "bytes"

const (
	maxWord    = 32  // bytes of the longest identifier that is looked up; below 64, see lexicon
	maxTopic   = 10  // bytes of the longest topic
	maxMessage = 256 // bytes of a diagnostic that are read
)

// word passes an identifier and counts what it says.
func (s *scanner) word() {
	if s.text[s.at] == 'R' && s.raw() {
		return
	}
	n := s.identifier(0)
	name := s.text[s.at : s.at+n]
	s.seen[cueWord]++
	if string(name) == "std" && s.peek(3) == ':' && s.peek(4) == ':' {
		s.standard()
		return
	}
	if n <= maxWord {
		w, known := words.find(name)
		switch {
		case !known:
			s.parts(name)
		case !s.meets(w, n):
		case w.need == diagnostic:
			s.message(n)
			return
		default:
			s.seen[w.cue]++
		}
	}
	s.pass(n)
	s.prev = 'a'
}

// message reads and passes a diagnostic, whose first word, of n bytes, stands here: to the end of its line, or as far
// as messages are read.
func (s *scanner) message(n int) {
	text := s.rest(n)
	text = text[:min(len(text), maxMessage)]
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	isError := s.text[s.at] == 'e'
	s.pass(n + len(text))
	s.steps += len(text) * len(messages)
	s.prev = 'a'
	for _, m := range messages {
		if bytes.Contains(text, []byte(m.words)) {
			s.seen[m.cue]++
			return
		}
	}
	if isError {
		s.seen[cueDiagnostic]++
	}
}

// identifier is the length of the identifier n bytes from here.
func (s *scanner) identifier(n int) int {
	length := 0
	for c := classes[s.peek(n)]; c == letter || c == digit; c = classes[s.peek(n+length)] {
		length++
	}
	return length
}

// meets reports whether what w needs stands around the identifier of n bytes that is here.
func (s *scanner) meets(w word, n int) bool {
	switch w.need {
	case alone:
		return true
	case angle:
		return s.after(n) == '<'
	case call:
		return s.after(n) == '('
	case packed:
		return bytes.HasPrefix(s.rest(n), []byte("..."))
	case clause:
		return s.constrains(n)
	case statement:
		return s.after(n) == '(' && s.lineHead()
	case scoped:
		return s.at > 1 && string(s.text[s.at-2:s.at]) == "::"
	case special:
		return s.prev == '>' && s.named(n)
	case phrase:
		return bytes.HasPrefix(s.rest(n), []byte(w.then))
	default:
		return s.prev == ':' && bytes.HasPrefix(s.rest(n), []byte(w.then))
	}
}

// constrains reports whether requires or concept, of n bytes, is the keyword here and not the English word.
func (s *scanner) constrains(n int) bool {
	next := s.after(n)
	return s.prev == '>' || s.prev == ')' || next == '{' || next == '(' && s.prev == '='
}

// lineHead reports whether only blanks stand before here on the line; it looks 32 bytes back.
func (s *scanner) lineHead() bool {
	for i := s.at - 1; i >= s.at-32; i-- {
		if s.steps++; i < 0 {
			return true
		}
		if c := classes[s.text[i]]; c != blank {
			return c == newline
		}
	}
	return false
}

// named reports whether a name and "<" stand n bytes from here.
func (s *scanner) named(n int) bool {
	limit := n + maxWord
	for n < limit && classes[s.peek(n)] == blank {
		n++
	}
	for n < limit && (classes[s.peek(n)] == letter || classes[s.peek(n)] == digit) {
		n++
	}
	s.steps += maxWord
	return s.after(n) == '<'
}

// standard passes std:: and the name behind it.
func (s *scanner) standard() {
	n := s.identifier(5)
	if n > 0 && n <= maxWord {
		if w, known := standard.find(s.rest(5)[:n]); known {
			s.seen[w.cue]++
			s.pass(5 + n)
			s.prev = 'a'
			return
		}
	}
	s.pass(5)
	s.prev = ':'
}

// parts counts the topics in an identifier, snake_case or CamelCase, and CMAKE_ variables.
func (s *scanner) parts(name []byte) {
	if bytes.HasPrefix(name, []byte("CMAKE_")) {
		s.seen[cueBuildName]++
		return
	}
	var part [maxTopic]byte
	n := 0
	for i, b := range name {
		lower := b | 0x20
		begins := i > 0 && b < 'a' && b >= 'A' && name[i-1] >= 'a' // fooBar
		if begins || b == '_' {
			s.topic(part[:min(n, maxTopic)], n)
			n = 0
		}
		if b == '_' {
			continue
		}
		if n < maxTopic {
			part[n] = lower
		}
		n++
	}
	s.topic(part[:min(n, maxTopic)], n)
}

func (s *scanner) topic(part []byte, length int) {
	if length < 3 || length > maxTopic {
		return
	}
	if _, known := topics.find(part); known {
		s.seen[cueTopic]++
	}
}

// makeVariable counts $(CXX) and its like, which stand here.
func (s *scanner) makeVariable() {
	n := 0
	for n <= maxWord && (s.peek(2+n) >= 'A' && s.peek(2+n) <= 'Z' || s.peek(2+n) == '_') {
		n++
	}
	s.steps += n
	if n > 1 && s.peek(2+n) == ')' {
		s.seen[cueBuildStep]++
	}
}
