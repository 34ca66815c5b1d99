package trace

import (
	"time"

	"octet/gateway/receipt"
)

// Ending is how a request ended.
type Ending struct {
	Receipt *receipt.Receipt // with its Result; of a request that was refused before it was decided, nothing else
	Arrival time.Time
	Total   time.Duration
	Asked   Asked
	Fault   string // see Fault
	// Engine returns what is known of a replica's engine.
	Engine func(replica string) Engine
}

// Asked is how the client came.
type Asked struct {
	Request    string // X-Request-Id
	Tenant     string // "" if it is not known
	Completion bool   // not a chat
	Path       string
	Door       string // beside chat completions; "" for none
}

// Engine is where a replica's engine is, and how it calls what it serves.
type Engine struct {
	Host  string
	Port  int
	Kind  string
	Model string
}

// Fault returns what the request of a receipt failed with: the code of its error, or how its client left; "" if it did
// not fail. aborted says that it ended without an error of ours and without a proper end: the client has left.
func Fault(r *receipt.Receipt, aborted bool) string {
	switch at := r.Attempts; {
	case r.Result.Code != "":
		return r.Result.Code
	case !aborted:
		return ""
	case len(at) > 0 && at[len(at)-1].Outcome != receipt.OK && at[len(at)-1].Outcome != "":
		return at[len(at)-1].Outcome
	}
	return clientGone
}

// clientGone is the fault of an answer that its client did not wait for.
const clientGone = "client_gone"

// Kept reports whether the request's trace is to be ended: it was sampled, or has failed, and the sink has room. It is
// asked once. What is not kept needs no Ending.
func (d *Draft) Kept(fault string) bool {
	return d != nil && (d.Sampled() || fault != "") && d.tracer.sink.Room()
}

// End ends the trace of a request, which goes to the sink. It returns the trace's id.
func (d *Draft) End(e *Ending) string {
	d.sample(true)
	m := maker{Ending: e, draft: d, spans: make(Trace, 0, len(d.marks)+2)}
	d.tracer.sink.Take(m.trace())
	return d.Trace
}

// maker makes the spans of a request.
type maker struct {
	*Ending
	draft *Draft
	spans Trace
}

func (m *maker) trace() Trace {
	m.whole()
	for i := range m.draft.marks {
		m.part(&m.draft.marks[i])
	}
	if m.draft.head > 0 {
		s := m.child("relay", m.draft.head, m.Total)
		s.Fault = m.Fault
		r := &m.Receipt.Result
		(*list)(&s.Attrs).number("octet.continued", r.Continued)
		(*list)(&s.Attrs).number("octet.preempted", r.Preempted)
	}
	return m.spans
}

// child adds a span below the request's own.
func (m *maker) child(name string, from, to time.Duration) *Span {
	m.spans = append(m.spans, Span{
		Context: Context{Trace: m.draft.Trace, Span: newID(), Flags: m.draft.Flags, State: m.draft.State},
		Parent:  m.draft.Span, Name: name, Start: m.Arrival.Add(from), End: m.Arrival.Add(max(from, to)),
	})
	return &m.spans[len(m.spans)-1]
}

// part adds the span of a mark.
func (m *maker) part(at *mark) {
	to := at.end
	if to == 0 {
		to = m.Total // it was not over when the request was
	}
	s := m.child(stageNames[at.stage], at.start, to)
	a := (*list)(&s.Attrs)
	if at.failed {
		s.Fault = other
		if m.Fault != "" {
			s.Fault = m.Fault
		}
	}
	var turn *receipt.Attempt // that the mark is part of; nil if it is of none
	if at.turn >= 0 && int(at.turn) < len(m.Receipt.Attempts) {
		turn = &m.Receipt.Attempts[at.turn]
	}
	switch {
	case at.stage == classify:
		m.decided(a)
	case at.stage == hold:
		a.flag("octet.held", true)
	case at.stage == queue && turn != nil:
		queued(a, turn)
		if at.failed {
			s.Fault = turn.Outcome
		}
	case at.stage == engine && turn != nil:
		m.engine(s, at, turn)
	}
}

// other is the fault of which no more is known, in the words of the conventions.
const other = "_OTHER"

// engine makes a span that of a question to an engine.
func (m *maker) engine(s *Span, at *mark, turn *receipt.Attempt) {
	s.Span, s.Kind = at.span, Client
	if turn.Outcome != receipt.OK && !at.again {
		s.Fault = turn.Outcome
	}
	a, e := (*list)(&s.Attrs), m.Engine(turn.Replica)
	m.operation(a, e.Kind, e.Model)
	a.text("server.address", e.Host)
	a.number("server.port", e.Port)
	ofTurn(a, turn)
	a.text("octet.adapter", m.Receipt.Decision.Adapter)
	a.text("octet.step", turn.Step)
	a.text("octet.revision", turn.Revision)
	a.text("octet.speculation", turn.Speculation)
	a.flag("octet.asked_again", at.again)
	a.flag("octet.handed_over_in_vain", turn.Fallback != "")
	a.number("octet.cached_tokens.predicted", turn.PredictedTokens)
	if turn.DeliveredTokens != nil {
		a.number("gen_ai.usage.cache_read.input_tokens", *turn.DeliveredTokens)
	}
}

func ofTurn(a *list, turn *receipt.Attempt) {
	a.text("octet.specialist", turn.Specialist)
	a.text("octet.replica", turn.Replica)
}

// queued adds what the replica's Gate reckoned with.
func queued(a *list, turn *receipt.Attempt) {
	ofTurn(a, turn)
	with := &turn.Admission
	a.text("octet.admission", with.Answer)
	a.number("octet.blocks.needed", with.Needed)
	a.number("octet.blocks.reused", with.Reused)
	a.number("octet.blocks.free", with.Free)
	a.number("octet.running", with.Running)
	a.number("octet.waiting", with.Waiting)
}
