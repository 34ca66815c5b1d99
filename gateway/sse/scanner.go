package sse

// Options of one stream.
type Options struct {
	MaxEvent int // bytes of one event; 0 is 1 MiB

	// Text is called with every piece of generated text of choice 0, reasoning left out: the inside of a JSON string as
	// the engine wrote it, valid during the call. Pieces joined are still the inside of a JSON string;
	// wire.AppendUnquoted gives the plain text. Nil collects nothing.
	Text func(raw []byte)

	// Reasoning is called with every piece of reasoning of choice 0, likewise. alone says that its event brought no
	// text; otherwise Text is called next. Nil collects nothing.
	Reasoning func(raw []byte, alone bool)

	// Calls is called with every piece of a tool call of choice 0, valid during the call. Nil collects nothing.
	Calls func(piece Call)

	// IDs is called with the token ids of each event of choice 0 that has some, and of its prompt in the first: what is
	// between their brackets, valid during the call, in the order of the events. spoken says that the event brought
	// text. Nil collects nothing.
	IDs func(prompt, ids []byte, spoken bool)

	Choices int // that were asked for; 0 is one
	Most    int // tokens that were asked for of each: what goes beyond is cut off; 0 is unbounded

	// Told says that an event was asked to tell how many tokens its choice has brought: in a usage, or in timings.
	// Without it an event of output is a token.
	Told bool

	// What was asked for on the way, and not by the client, is not given out: the usage of events with choices, the
	// event that has a usage and no choices, the timings of events before the last. HideLast says that the usage of a
	// last event with choices is such a one though no event before had one.
	HideUsage, HideLast, HideTotals, HideTimings bool
	NullUsage                                    bool // a usage that is not given out is null: its client waits for one
	HideIDs                                      bool // token ids become null, as where they were not asked for
	HidePrompt                                   bool // likewise the prompt's

	Totals bool // the client wants an event with the usage at the end

	Dialect Dialect // what the events are of; nil for chunks
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

	tally    tally
	wasCut   bool
	running  bool   // an event before the last had a usage
	edits    []edit // of the event at hand
	piece    edited // what of the piece at hand is given out
	mended   edited // likewise of the carry
	reasoned bool
	usage    Usage
	hasUsage bool
	finish   string
	engine   *EngineError
	joined   []byte // scratch: data lines of one event, joined

	said       Said   // by the event at hand of a Dialect
	held, last []byte // of a Dialect: events before the first output, and the one that ended the stream
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
	s.piece.begin(0)
	s.mended.begin(0)
	*s = Scanner{opts: o, carry: carry[:0], joined: joined[:0], edits: s.edits[:0], piece: s.piece, mended: s.mended}
}

// Feed takes the next piece and returns what may go to the client now, out[0] first: whole events, as they came, but
// for what Options leave out or cut. out[0] is the scanner's own and valid until the next call, out[1] is part of p or
// likewise. What comes after the last whole event is kept.
//
// err is ErrGarbage, ErrEventTooLarge (both may come wrapped) or an *EngineError, once the events before are in out,
// and stays. After [DONE], which is not in out, or an error, out is empty.
func (s *Scanner) Feed(p []byte) (out [2][]byte, err error) {
	if s.ended() {
		return out, s.err
	}
	s.tidy()
	nl := newNewlines(p)
	i := 0
	if len(s.carry) > 0 {
		i = s.complete(p, &nl)
		out[0] = s.mended.upTo(s.carry, 0, s.given)
	}
	if !s.ended() {
		s.piece.begin(i)
		end := s.run(p, i, &nl)
		out[1] = s.piece.upTo(p, i, end)
	}
	if s.ended() {
		s.carry, s.given = s.carry[:0], 0
	}
	return out, s.err
}

func (s *Scanner) ended() bool { return s.done || s.err != nil }

// alike takes the events of p from i on that have the shape of the last: almost all of most streams. It returns where
// the rest begins, which may have it too where it is not whole.
func (s *Scanner) alike(p []byte, i int) int {
	if s.frame != (frame{}) {
		return i
	}
	for i < len(p) {
		m := s.shape.event(p[i:])
		if m.size == 0 || m.size > s.opts.mostEvent() || !s.spoken(m) {
			return i
		}
		if m.ids.to > 0 && s.opts.HideIDs {
			s.piece.replace(p, i+m.ids.from, i+m.ids.to, "null")
		}
		if m.hide.to > 0 {
			s.piece.replace(p, i+m.hide.from, i+m.hide.to, s.insteadOfUsage())
		}
		i += m.size
	}
	return i
}

// spoken notes what an event says that has the last one's shape; false where it goes beyond what was asked for.
func (s *Scanner) spoken(m match) bool {
	p := &s.tally.first
	if s.shape.choice > 0 && s.shape.choice < s.opts.Choices {
		p = s.tally.of(s.shape.choice)
	}
	told := s.opts.believed(p, m.count, m.counted)
	tokens := p.next(told)
	if p.cut || s.opts.Most > 0 && tokens > s.opts.Most {
		return false
	}
	s.tally.add(p, tokens, told >= 0)
	if m.ids.to > 0 && s.opts.IDs != nil && s.shape.choice == 0 {
		s.opts.IDs(nil, m.list, true)
	}
	if m.counted {
		s.usage, s.hasUsage = s.shape.usage, true
		s.usage.CompletionTokens = m.count
	}
	if s.shape.reasoning {
		s.reasoned = true
		if s.opts.Reasoning != nil && s.shape.choice == 0 {
			s.opts.Reasoning(m.text, true)
		}
	}
	if s.shape.collect {
		s.collect(m.text)
	}
	if s.opts.Dialect != nil {
		s.same(m.text, m.count)
	}
	return true
}

// same hands on what an event of a Dialect says that has the last one's shape.
func (s *Scanner) same(text []byte, count int) {
	if s.shape.called && s.opts.Calls != nil {
		s.opts.Calls(Call{Index: s.shape.call, Arguments: text})
	}
	s.opts.Dialect.Given(text, count)
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

// complete goes on with the event begun in earlier pieces, and returns where p goes on after it; if it may go out, it
// is given.
func (s *Scanner) complete(p []byte, nl *newlines) int {
	end, whole := s.frame.end(p, 0, nl)
	if s.tooLarge(len(s.carry) + end) {
		return end
	}
	s.carry = append(s.carry, p[:end]...)
	s.mended.begin(0)
	if whole && s.take(s.carry) {
		s.given = len(s.carry)
		s.mended.apply(s.carry, 0, s.edits)
	}
	return end
}

// run takes the whole events of p from i on, carries the rest, and returns where the last event that may go out ends.
func (s *Scanner) run(p []byte, i int, nl *newlines) int {
	for i < len(p) && !s.done {
		if n := s.alike(p, i); n > i {
			i = n
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
		s.piece.apply(p, i, s.edits)
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
	if size <= s.opts.mostEvent() {
		return false
	}
	s.err = ErrEventTooLarge
	return true
}

// Done reports whether the stream is over: [DONE] came, or all choices were cut or had ended before.
func (s *Scanner) Done() bool { return s.done }

// Cut reports whether the stream is over because of Options.Most: its engine may have more to say.
func (s *Scanner) Cut() bool { return s.wasCut }

// Events is the number of events that brought output: text, reasoning, refusal or tool call of any choice.
func (s *Scanner) Events() int { return s.tally.events }

// Tokens is the number of tokens that these events have brought, of all choices: as the engine told with each, else one
// an event. Tokens whose text is held back for a later event are not among them, unless others in their event are not
// held back.
func (s *Scanner) Tokens() int { return s.tally.total }

// Told reports whether every event so far that brought output told of its tokens.
func (s *Scanner) Told() bool { return s.tally.untold == 0 }

// FirstToken reports whether any output came.
func (s *Scanner) FirstToken() bool { return s.tally.events > 0 }

// Usage is the last usage object that came, false before one.
func (s *Scanner) Usage() (Usage, bool) { return s.usage, s.hasUsage }

// FinishReason is the last one that came, of any choice; "" before one.
func (s *Scanner) FinishReason() string { return s.finish }

// EngineError is the error object that ended the stream, nil without one.
func (s *Scanner) EngineError() *EngineError { return s.engine }
