package sse

// Pending is the number of bytes held of an event that has not ended.
func (s *Scanner) Pending() int { return len(s.carry) - s.given }

// Reasoned reports whether any output was reasoning, which is not among the Text.
func (s *Scanner) Reasoned() bool { return s.reasoned }
