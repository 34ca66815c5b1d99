package sse

// Options of one stream.
type Options struct {
	MaxEvent int // bytes of one event; 0 is 1 MiB

	// Text is called with every piece of generated text of choice 0, reasoning left out: the inside of a JSON string as the
	// engine wrote it, valid during the call. Pieces joined are still the inside of a JSON string; wire.AppendUnquoted gives
	// the plain text. Nil collects nothing.
	Text func(raw []byte)
}

const (
	defaultMaxEvent = 1 << 20
	keepCarry       = 16 << 10 // bytes of the carry that outlive an event
)

// Usage is what the engine accounted for.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
	CachedTokens     int // of the prompt; 0 when CachedKnown is false
	CachedKnown      bool
}

// Scanner reads one event stream, fed in pieces. The zero value is ready; Reset makes it ready for another stream.
// Not safe for concurrent use.
type Scanner struct {
	opts  Options
	frame frame
	carry []byte // carry[given:] is the event at hand, incomplete
	given int    // carry[:given] went out with the last Feed
	began bool   // an event has been seen: a byte order mark can only be before
	done  bool
	err   error
	shape shape

	tokens   int
	reasoned bool
	usage    Usage
	hasUsage bool
	finish   string
	engine   *EngineError
	joined   []byte // scratch: data lines of one event, joined
}

// Reset forgets the stream and keeps a modest carry.
func (s *Scanner) Reset(o Options) {
	carry, joined := s.carry, s.joined
	if cap(carry) > keepCarry {
		carry = nil
	}
	if cap(joined) > keepCarry {
		joined = nil
	}
	*s = Scanner{opts: o, carry: carry[:0], joined: joined[:0]}
}

// Feed takes the next piece and returns what may go to the client now, out[0] first: whole events, as they came. out[0]
// is the scanner's own and valid until the next call, out[1] is part of p. What comes after the last whole event is kept.
//
// err is ErrGarbage, ErrEventTooLarge (both may come wrapped) or an *EngineError, once the events before are in out, and
// stays. After [DONE], which is not in out, or an error, out is empty.
func (s *Scanner) Feed(p []byte) (out [2][]byte, err error) {
	if s.ended() {
		return out, s.err
	}
	s.tidy()
	nl := newNewlines(p)
	i := 0
	if len(s.carry) > 0 {
		i = s.complete(p, &nl)
		out[0] = s.carry[:s.given:s.given]
	}
	if !s.ended() {
		end := s.run(p, i, &nl)
		out[1] = p[i:end:end]
	}
	if s.ended() {
		s.carry, s.given = s.carry[:0], 0
	}
	return out, s.err
}

func (s *Scanner) ended() bool { return s.done || s.err != nil }

// alike takes the events at the beginning of p that have the shape of the last: almost all of most streams. It returns where
// the rest begins, which may have it too where it is not whole.
func (s *Scanner) alike(p []byte) (i int) {
	if s.frame != (frame{}) {
		return 0
	}
	for i < len(p) {
		text, size := s.shape.event(p[i:])
		if size == 0 || size > s.mostEvent() {
			return i
		}
		s.spoken(text)
		i += size
	}
	return i
}

// spoken notes the text of an event that has the last one's shape.
func (s *Scanner) spoken(text []byte) {
	s.tokens++
	if s.shape.reasoning {
		s.reasoned = true
	}
	if s.shape.collect {
		s.collect(text)
	}
}

// tidy drops from the carry what went out.
func (s *Scanner) tidy() {
	if s.given == 0 {
		return
	}
	rest := copy(s.carry, s.carry[s.given:])
	if s.given = 0; rest == 0 && cap(s.carry) > keepCarry {
		s.carry = nil
	}
	s.carry = s.carry[:rest]
}

// complete goes on with the event begun in earlier pieces, and returns where p goes on after it; if it may go out, it is
// given.
func (s *Scanner) complete(p []byte, nl *newlines) int {
	end, whole := s.frame.end(p, 0, nl)
	if s.tooLarge(len(s.carry) + end) {
		return end
	}
	s.carry = append(s.carry, p[:end]...)
	if whole && s.take(s.carry) {
		s.given = len(s.carry)
	}
	return end
}

// run takes the whole events of p from i on, carries the rest, and returns where the last event that may go out ends.
func (s *Scanner) run(p []byte, i int, nl *newlines) int {
	for i < len(p) {
		if n := s.alike(p[i:]); n > 0 {
			i += n
			continue
		}
		if s.frame.swallow(p[i]) {
			i++
			continue
		}
		end, whole := s.frame.end(p, i, nl)
		if s.tooLarge(end - i) {
			return i
		}
		if !whole {
			s.carry = append(s.carry, p[i:end]...)
			return i
		}
		if !s.take(p[i:end]) {
			return i
		}
		i = end
	}
	return i
}

// take judges a whole event, false when it ends the stream.
func (s *Scanner) take(event []byte) bool {
	ok := s.event(event)
	s.frame.lines = 0
	s.began = true
	return ok
}

func (s *Scanner) tooLarge(size int) bool {
	if size <= s.mostEvent() {
		return false
	}
	s.err = ErrEventTooLarge
	return true
}

func (s *Scanner) mostEvent() int {
	if s.opts.MaxEvent > 0 {
		return s.opts.MaxEvent
	}
	return defaultMaxEvent
}

// Done reports whether [DONE] came.
func (s *Scanner) Done() bool { return s.done }

// Pending is the number of bytes held of an event that has not ended.
func (s *Scanner) Pending() int { return len(s.carry) - s.given }

// Tokens is the number of events that brought output: text, reasoning, refusal or tool call of any choice. An event is
// one token with most engines, several with those that coalesce: usage has the last word.
func (s *Scanner) Tokens() int { return s.tokens }

// FirstToken reports whether any output came.
func (s *Scanner) FirstToken() bool { return s.tokens > 0 }

// Reasoned reports whether any output was reasoning, which is not among the Text.
func (s *Scanner) Reasoned() bool { return s.reasoned }

// Usage is the last usage object that came, false before one.
func (s *Scanner) Usage() (Usage, bool) { return s.usage, s.hasUsage }

// FinishReason is the last one that came, of any choice; "" before one.
func (s *Scanner) FinishReason() string { return s.finish }

// EngineError is the error object that ended the stream, nil without one.
func (s *Scanner) EngineError() *EngineError { return s.engine }
