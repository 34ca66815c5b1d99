package trace

import (
	"time"

	"octet/gateway/receipt"
)

// Shadow begins the trace of a copy of the request, which is a trace of its own, with the id that is made for it: each
// is linked to the other. It returns nil from a nil Draft, and for a request that is not sampled.
func (d *Draft) Shadow(id func() string) *Draft {
	if d == nil || !d.Sampled() {
		return nil
	}
	s := &Draft{tracer: d.tracer, Context: Context{Trace: id(), Span: newID(), Flags: sampledFlag}, turn: -1}
	s.marks = s.room[:0]
	from, to := d.Context, s.Context
	s.beside, d.beside = &from, &to
	return s
}

// Copied is what came of a shadow.
type Copied struct {
	Receipt    string // of the request
	Specialist string
	Adapter    string
	Replica    string // "" if none was asked
	Engine     Engine // of the replica
	Completion bool
	Arrival    time.Time // when it began
	Total      time.Duration
	Outcome    string // why it has no answer; "" if it has
}

// EndShadow ends the trace of a shadow.
func (d *Draft) EndShadow(c *Copied) {
	if d == nil || !d.tracer.sink.Room() {
		return
	}
	turn := receipt.Attempt{Specialist: c.Specialist, Replica: c.Replica, Outcome: receipt.OK}
	if c.Outcome != "" {
		turn.Outcome = c.Outcome
	}
	r := &receipt.Receipt{ID: c.Receipt, Attempts: []receipt.Attempt{turn},
		Asked:    receipt.Asked{Model: c.Specialist},
		Decision: receipt.Decision{Specialist: c.Specialist, Adapter: c.Adapter}}
	e := &Ending{Receipt: r, Arrival: c.Arrival, Total: c.Total, Asked: Asked{Completion: c.Completion},
		Fault: c.Outcome, Engine: func(string) Engine { return c.Engine }}
	m := maker{Ending: e, draft: d}
	s := Span{Context: d.Context, Name: "shadow", Fault: c.Outcome, Links: []Context{*d.beside},
		Start: c.Arrival, End: c.Arrival.Add(c.Total)}
	a := (*list)(&s.Attrs)
	a.text("octet.receipt", c.Receipt)
	m.decided(a)
	a.text("octet.replica", c.Replica)
	m.spans = append(m.spans, s)
	for i := range d.marks {
		m.part(&d.marks[i])
	}
	d.tracer.sink.Take(m.spans)
}
