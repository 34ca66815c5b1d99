package decide

import (
	"context"
	"slices"
	"time"

	"octet/calibration"
	"octet/classifier"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/slo"
)

// Decision is which specialist answers a request, and why. The zero Decision has decided nothing.
type Decision struct {
	classifier.Verdict
	Demoted     string // the specialist that another stands in for
	Probe       string // the demoted specialist that is owed a copy of the request
	ShadowCause calibration.Cause
	NoShadow    Why  // why the shadow that was decided on is not sent; "" if it is
	OnProbation bool // what answers has not shown yet that it is good

	conversation uint64 // by what a later request of the conversation finds it; 0 if nothing tells it
	loop         uint64 // the same of a loop of tool calls within a session
	inLoop       bool   // the last message is a tool's, and the conversation stays where its loop is
	opening      prefix // the text of a completion that is found so
	before       string // the specialist that answered the conversation last; "" if that is not known

	among      []*ensemble.Specialist // of the Runtime that decided: Probabilities has one of each, in this order
	specialist *ensemble.Specialist   // of the verdict, looked up at the first use
	knobs      *ensemble.Knobs        // of the verdict's intent, likewise
}

// In returns the specialist of the verdict; nil if no specialist has that name.
func (d *Decision) In(rt *ensemble.Runtime) *ensemble.Specialist {
	if d.specialist == nil || d.specialist.Name != d.Specialist {
		d.specialist = rt.Specialist(d.Specialist)
	}
	return d.specialist
}

// ByName returns true if the request named the specialist.
func (d *Decision) ByName() bool { return d.RoutedBy == classifier.ByModel }

// Renew has In look the specialist up again: the request goes on by another Runtime.
func (d *Decision) Renew() { d.specialist = nil }

// Version returns the declared version of what answers: the adapter's, else the specialist's.
func (d *Decision) Version(rt *ensemble.Runtime) string {
	sp := d.In(rt)
	switch {
	case sp == nil:
		return ""
	case d.Adapter != "":
		return sp.Versions[d.Adapter]
	}
	return sp.Version
}

// knobsIn returns the knobs of the verdict's intent.
func (d *Decision) knobsIn(rt *ensemble.Runtime) *ensemble.Knobs {
	if d.knobs == nil {
		d.knobs = rt.Knobs(d.Intent)
	}
	return d.knobs
}

// Decider is what decisions are made with. It serves all requests of a gateway.
type Decider struct {
	Conversations *Conversations
	Probation     *slo.Probation // nil: nothing is on probation
	Clock         Clock
}

// Clock says what time it is.
type Clock interface{ Now() time.Time }

// Route asks the cascade, then what keeps or shares a request: conversations, probation, shadows. The text is unescaped
// only where it is read.
func (c *Decider) Route(ctx context.Context, rt *ensemble.Runtime, r *intake.Request, d *Decision) error {
	r.AsTurns, d.among = r.AsTurns[:0], rt.Specialists
	model, err := declared(rt, r)
	if err != nil {
		return err
	}
	if rt.Cascade.Reads(model, r.Intent.Intent) {
		r.Turns = r.Parsed.Turns(r.Turns[:0])
		r.AsTurns = slices.Grow(r.AsTurns, len(r.Turns))
		for _, t := range r.Turns {
			r.AsTurns = append(r.AsTurns, classifier.Turn{Role: t.Role, Text: t.Text})
		}
		if r.AnswersTool() {
			r.AsTurns = untilLoop(r.AsTurns, r.Parsed.Messages())
		}
	}
	in := classifier.Input{Model: model, Intent: r.Intent.Intent, Adapter: r.Intent.Adapter, Turns: r.AsTurns,
		Dry: r.Dry}
	if r.Parsed.Images() > 0 || !r.Parsed.TakenByAll() {
		in.Able = func(name string) bool { return takes(rt, r, name) }
	}
	if err := c.classify(ctx, rt, r, &in, d); err != nil {
		return err
	}
	if err := holds(rt, r, d); err != nil {
		return err
	}
	c.Conversations.stay(rt, r, d, c.shares(d))
	c.shareOut(rt, r, d)
	d.inForce(rt)
	d.Shadow, d.ShadowCause = c.shadowOf(rt, d)
	c.NoteProbation(d)
	return nil
}

// untilLoop takes from turns what stands behind the user's message that began the loop, of so many messages: within a
// loop of tool calls a request is classified as it was then. What a client adds to what tools return does not begin a
// loop. What comes with the messages stays.
func untilLoop(turns []classifier.Turn, messages int) []classifier.Turn {
	for i := messages - 1; i >= 0; i-- {
		if turns[i].Role == "user" && !amongResults(turns[:i]) {
			return slices.Delete(turns, i+1, messages)
		}
	}
	return turns
}

// amongResults returns true if what follows on turns stands with what tools returned, before any answer to it.
func amongResults(turns []classifier.Turn) bool {
	for _, t := range slices.Backward(turns) {
		switch t.Role {
		case "tool", "function":
			return true
		case "assistant":
			return false
		}
	}
	return false
}

// classify asks the cascade. A classifier out of process gets at most half of the time that the request's deadlines
// leave: the other half is for the answer.
func (c *Decider) classify(ctx context.Context, rt *ensemble.Runtime, r *intake.Request, in *classifier.Input,
	d *Decision) error {
	until := r.Intent.Deadline
	if first := r.Intent.TTFTDeadline; until.IsZero() || !first.IsZero() && first.Before(until) {
		until = first
	}
	if until.IsZero() || !rt.Cascade.Outside() {
		return rt.Cascade.Decide(ctx, in, &d.Verdict)
	}
	ctx, cancel := context.WithTimeout(ctx, until.Sub(c.Clock.Now())/2)
	defer cancel()
	return rt.Cascade.Decide(ctx, in, &d.Verdict)
}

// Second reports whether there is a second choice that may answer, which the verdict called viable, and which is not
// under load itself.
func (c *Decider) Second(rt *ensemble.Runtime, r *intake.Request, d *Decision) bool {
	return d.SecondViable && c.mayTake(rt, r, d.Verdict.Second)
}

// mayTake reports whether a specialist may take a request of another's: it serves, and has no load of its own to shed.
func (c *Decider) mayTake(rt *ensemble.Runtime, r *intake.Request, name string) bool {
	if !c.mayAnswer(rt, r, name) {
		return false
	}
	sp := rt.Specialist(name)
	return sp.Escalation() == slo.Normal && sp.Snapshot().Serves()
}

// mayAnswer reports whether a specialist is one of the tenant's, takes the request, and is not demoted.
func (c *Decider) mayAnswer(rt *ensemble.Runtime, r *intake.Request, name string) bool {
	sp := rt.Specialist(name)
	return r.Tenant.Permits(name) && takes(rt, r, name) &&
		(!sp.Board.Breaker().Demoted() || sp.Board.Breaker().Standing(c.Clock.Now()) == slo.Primary)
}

// takes reports whether there is a specialist of that name that takes what is in the body, with a replica that does,
// and whose context has room for as long an answer.
func takes(rt *ensemble.Runtime, r *intake.Request, name string) bool {
	sp := rt.Specialist(name)
	if sp == nil || !sp.Takes(&r.Parsed) {
		return false
	}
	if most := sp.MaxContext(); most > 0 && r.Parsed.MaxTokens >= most {
		return false
	}
	_, none := intake.Takers(rt, sp.Snapshot().Hosts, &r.Parsed)
	return none == nil
}
