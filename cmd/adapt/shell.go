package adapt

import (
	"fmt"
	"strings"
)

// word is one of a command line.
type word struct {
	text string
	line int
}

// maxWords bounds a command line.
const maxWords = 4096

// shell splits a text into words as a shell does: quotes, backslashes, comments, lines that go on after a backslash.
// Nothing is expanded. A line that does not go on ends the command, and another one is refused.
func shell(text string) ([]word, error) {
	s := shellText{rest: text, line: 1}
	for s.rest != "" {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.end()
	if len(s.words) == 0 {
		return nil, ErrNothing
	}
	return s.words, nil
}

// shellText is what is left of a text, and what was read of it.
type shellText struct {
	rest   string
	line   int
	word   strings.Builder
	inside bool // of a word
	over   bool // the command has ended
	words  []word
}

func (s *shellText) step() error {
	c := s.rest[0]
	s.rest = s.rest[1:]
	switch {
	case c == '\n':
		s.end()
		s.over = len(s.words) > 0
		s.line++
	case c == ' ' || c == '\t' || c == '\r':
		s.end()
	case c == '#' && !s.inside:
		end := strings.IndexByte(s.rest+"\n", '\n')
		s.rest = s.rest[end:]
	case s.over:
		return fmt.Errorf("%w, and line %d is a second command", ErrSyntax, s.line)
	case len(s.words) >= maxWords:
		return ErrTooComplex
	case c == '\\':
		s.escaped()
	case c == '\'' || c == '"':
		return s.quoted(c)
	default:
		s.word.WriteByte(c)
		s.inside = true
	}
	return nil
}

// escaped reads what comes after a backslash: the end of a line is nothing.
func (s *shellText) escaped() {
	s.rest = strings.TrimPrefix(s.rest, "\r")
	if s.rest == "" {
		return
	}
	if s.rest[0] == '\n' {
		s.line++
	} else {
		s.word.WriteByte(s.rest[0])
		s.inside = true
	}
	s.rest = s.rest[1:]
}

// quoted reads up to the end of a quotation. Within double quotes a backslash escapes what follows it.
func (s *shellText) quoted(quote byte) error {
	began := s.line
	s.inside = true
	for i := 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == quote:
			s.rest = s.rest[i+1:]
			return nil
		case c == '\\' && quote == '"' && i+1 < len(s.rest):
			i++
			s.word.WriteByte(s.rest[i])
		default:
			if c == '\n' {
				s.line++
			}
			s.word.WriteByte(c)
		}
	}
	return fmt.Errorf("%w, and the quotation of line %d does not end", ErrSyntax, began)
}

// end ends a word, if there is one.
func (s *shellText) end() {
	if s.inside {
		s.words = append(s.words, word{s.word.String(), s.line})
	}
	s.inside = false
	s.word.Reset()
}
