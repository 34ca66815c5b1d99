package emulator

import "bytes"

// stopper ends an answer before the first of the client's stop strings, and holds back text that may become one.
type stopper struct {
	words [][]byte
	held  []byte // not yet handed out: the beginning of a stop string, maybe
}

// feed takes the text of one more token and returns what can be handed out now, valid until the next call, and whether
// a stop string has ended the answer. last is set with the answer's last token: nothing is held back then.
func (s *stopper) feed(text []byte, last bool) (out []byte, stopped bool) {
	if len(s.words) == 0 {
		return text, false
	}
	s.held = append(s.held, text...)
	if at := s.first(); at >= 0 {
		return s.held[:at], true
	}
	keep := 0
	if !last {
		keep = s.pending()
	}
	out = bytes.Clone(s.held[:len(s.held)-keep])
	s.held = append(s.held[:0], s.held[len(s.held)-keep:]...)
	return out, false
}

// first returns the index at which the earliest stop string begins in held, or -1.
func (s *stopper) first() int {
	first := -1
	for _, w := range s.words {
		if at := bytes.Index(s.held, w); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// pending returns the length of the longest end of held that begins a stop string.
func (s *stopper) pending() (longest int) {
	for _, w := range s.words {
		for n := min(len(w)-1, len(s.held)); n > longest; n-- {
			if bytes.HasSuffix(s.held, w[:n]) {
				longest = n
			}
		}
	}
	return longest
}
