package sse

import (
	"bytes"
	"fmt"
)

// Dialect reads the events of a stream that is not of chat completions, and what is the same in each of them. It is one
// stream's. Without one in Options, events are chunks of OpenAI's.
type Dialect interface {
	// Read notes in said what an event's data says; false if it is no JSON object. Both are valid during the call.
	Read(data []byte, said *Said) bool
	// Given says that an event has gone out with a piece of output and a number: one that was read and said so, or one
	// that differs from the last such by these two alone, and was not read. piece is valid during the call.
	Given(piece []byte, number int)
}

// Said is what one event of a Dialect says.
type Said struct {
	Output    bool   // text, reasoning or a piece of a tool call
	Reasoning bool   // it is reasoning
	Text      []byte // of the answer: the inside of a string

	Called bool // it brings Call
	Call   Call // a piece of a tool call

	// Piece is where in the data the one string is that is the event's own, text or not, and Number where such a number
	// stands behind it: the next event may be the same but for them. The zero Piece: there is more to note.
	Piece, Number Span
	N             int // what stands at Number

	Usage  Usage
	Told   bool // it has a usage
	Finish string
	Last   bool         // it is the good end of the stream
	Failed *EngineError // it says that the stream broke; nil otherwise
}

// Span is a part of an event's data; To 0 is nowhere.
type Span struct{ From, To int }

// foreign judges an event of the stream's Dialect; false when it ends the stream. Events before the first output are
// held back, so that until then another engine may take over. The last event is kept: see Last.
func (s *Scanner) foreign(event, data []byte, failed bool) bool {
	said := &s.said
	if *said = (Said{}); !s.opts.Dialect.Read(data, said) {
		s.err = fmt.Errorf("%w: data that is not a JSON object", ErrGarbage)
		return false
	}
	if failed && said.Failed == nil {
		var c chunk
		said.Failed = c.engineError(data)
	}
	if s.engine = said.Failed; s.engine != nil {
		s.err = s.engine
		return false
	}
	s.note(said)
	switch {
	case said.Last:
		s.last = append(s.last, event...)
		s.done = true
		s.lead(event)
	case said.Output:
		s.output(event, data, said)
	case s.tally.events == 0:
		return s.hold(event)
	}
	return true
}

// note notes what an event says beside its output.
func (s *Scanner) note(said *Said) {
	if said.Told {
		s.usage, s.hasUsage = said.Usage, true
	}
	if said.Finish != "" {
		s.finish = said.Finish
	}
	if !said.Output {
		s.called(said)
	}
}

// called hands on a piece of a tool call.
func (s *Scanner) called(said *Said) {
	if said.Called && s.opts.Calls != nil {
		s.opts.Calls(said.Call)
	}
}

// output notes an event of output, or ends the stream where it goes beyond what was asked for.
func (s *Scanner) output(event, data []byte, said *Said) {
	p := &s.tally.first
	if s.opts.Most > 0 && p.tokens >= s.opts.Most {
		s.finish, s.done, s.wasCut = "length", true, true
		s.drop(event)
		return
	}
	if s.tally.events == 0 {
		s.lead(nil)
	}
	s.reasoned = s.reasoned || said.Reasoning
	s.tally.add(p, p.tokens+1, false)
	piece := data[said.Piece.From:said.Piece.To]
	if said.Reasoning && s.opts.Reasoning != nil {
		s.opts.Reasoning(piece, true)
	}
	s.collect(said.Text)
	s.called(said)
	s.opts.Dialect.Given(piece, said.N)
	s.shape.adopt(event, data, said)
}

// hold holds back an event before the first output; false if there are too many.
func (s *Scanner) hold(event []byte) bool {
	if s.tooLarge(len(s.held) + len(event)) {
		return false
	}
	if s.held = append(s.held, event...); event[len(event)-1] == '\r' { // its LF is passed over by itself
		s.held = append(s.held, '\n')
	}
	s.drop(event)
	return true
}

// lead gives out the events that were held back: ahead of the event at hand, or in place of it.
func (s *Scanner) lead(instead []byte) {
	if len(s.held) > 0 || instead != nil {
		s.edits = append(s.edits, edit{0, len(instead), string(s.held)})
		s.held = nil
	}
}

// Last returns the event that ended a Dialect's stream, which was not given out; nil if it has not come.
func (s *Scanner) Last() []byte { return s.last }

// adopt takes on the shape of an event of a Dialect, where the next may have it.
func (h *shape) adopt(event, data []byte, said *Said) {
	lead, ok := offset(event, data)
	at, behind := lead+said.Piece.From, lead+said.Piece.To
	if !ok || said.Piece.To == 0 || !bytes.HasSuffix(event, []byte(eventEnd)) || len(event)-behind+at > len(h.around) ||
		said.Number.To > 0 && said.Number.From < said.Piece.To {
		return
	}
	*h = shape{around: h.around, lead: lead, head: at, reasoning: said.Reasoning, collect: said.Text != nil, counts: -1,
		called: said.Called, call: said.Call.Index}
	around := append(h.around[:0], event[:at]...)
	if said.Number.To > 0 {
		h.counts = 0
		behind, around = h.differs(event, around, behind, span{lead + said.Number.From, lead + said.Number.To})
	}
	h.tail = len(append(around, event[behind:]...)) - at
}
