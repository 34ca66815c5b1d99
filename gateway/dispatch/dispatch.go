package dispatch

import (
	"context"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
	"octet/gateway/metrics"
	"octet/gateway/plan"
	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/gateway/trace"
	"octet/routing"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// Shared is what all requests of a gateway have in common here.
type Shared struct {
	Retries *Budget
	Again   func() bool // takes from Retries for a request that was lost with a kept connection
	Metrics *metrics.Series
	// The clock is time.Now: engines' clients may count from times that were taken here.
	WallClock bool
	Newest    func() *ensemble.Runtime // that is served now
	Began     time.Time                // before any request
}

// Client is the client's side of an answer.
type Client interface {
	// Head sends the head of a replica's successful answer, with a body of length bytes; below 0 is unknown.
	Head(rep *ensemble.Replica, now time.Time, length int)
	// End ends the answer of a stream that has begun. err is nil if it is whole.
	End(err error)
}

// Parts are the values of the line that a Dispatch works with.
type Parts struct {
	Shared  *Shared
	Runtime *ensemble.Runtime
	Request *intake.Request
	Timer   *intake.Timer
	Relay   *stream.Relay
	Receipt *receipt.Draft
	Trace   *trace.Draft // nil if the request is not traced
	Client  Client
	Courier Courier // nil: replicas are reached by their own clients
}

// Courier takes a request to the replica that answers it, and brings the answer, in place of the replica's own client:
// where another proxy holds the connections to engines. It is asked once a request, and steps before the last are none
// of its. What it has taken is not preempted, not sent anew and not continued elsewhere.
type Courier interface {
	Do(ctx context.Context, to *ensemble.Replica, r *engine.Request) (engine.Response, error)
}

// Dispatch has one request answered.
type Dispatch struct {
	Parts
	Progress
	Plan   plan.Plan // at the specialist that is asked now
	Choice Choice

	ctx   context.Context // the client's connection and the request's deadline
	steps steps
	turn  turn
	retry retry
	away  away
	heirs succession
	held  held

	carried bool // the courier has taken it

	doubts    doubts
	predicted int // tokens of the prompt that the index believes the replica to hold
	known     int // of those, tokens that the replica's events tell of
	foretold  int // predicted, or more where guesses of the replica do not count at present
}

// Choice is what the choice between two specialists asks of the one that is asked now. The zero Choice asks nothing.
type Choice struct {
	OfferBack bool // a second choice may answer: a long wait is offered back for it
	// the first choice keeps the request waiting for so long: it is refused here for as long a wait
	Sooner time.Duration
	AtOnce bool // what the first choice has is not known: here it starts at once or is refused
}

// tooLate reports whether a replica that serves after so long, 0 if that is not known, is later than what the first
// choice has.
func (c *Choice) tooLate(after time.Duration) bool {
	return c.AtOnce || c.Sooner > 0 && (after == 0 || after >= c.Sooner)
}

// Progress is how far a request has come.
type Progress struct {
	Attempts  int
	Preempted int           // times that a place was given back
	Continued int           // attempts to go on with a stream whose engine died
	Admitted  bool          // it got a place, once at least
	Taken     bool          // an engine took it up, once at least, as far as is known
	Routed    time.Duration // in the pipeline
	Queued    time.Duration // for places
	TTFT      time.Duration // from the arrival; zero before the first token
	Cached    int           // of the prompt's tokens, as foretold in the engine's; below 0 is not known
}

// Begin makes d the Dispatch of a request.
func (d *Dispatch) Begin(p Parts) {
	d.Parts = p
	d.steps.protocol = ensemble.Plain{}
}

// Route finds out which replicas of a specialist may answer, in which order. ctx is the request's.
func (d *Dispatch) Route(ctx context.Context, sp *ensemble.Specialist, adapter string) (routing.Plan, error) {
	d.ctx = ctx
	d.Plan.At(sp, adapter)
	d.away.comesTo(sp, d.Request, d.Timer)
	return d.route()
}

// Probe returns what the Gate of the first in rank for a step would say now. last says that the step is the answer's.
func (d *Dispatch) Probe(s *routing.Step, last bool) scheduler.Answer {
	var q gate.Request
	attempt{d}.admission(&q, !last)
	return d.Runtime.Replicas[s.Ranked[0].Host].Gate.Probe(q)
}

// route is the pipeline over the replicas that the request may see.
func (d *Dispatch) route() (routing.Plan, error) {
	d.steps.handBack()
	began := d.Timer.Since()
	ask := plan.Ask{Now: d.Timer.At(began), Without: d.heirs.died, Answered: d.Relay.Delivered() > 0, Traced: true}
	if d.timed(ask.Now) {
		ask.Clock = d.Timer.Since
	}
	plan, err := d.Plan.Make(d.ctx, d.Runtime, d.Request, &ask)
	if !d.Plan.Made() {
		return plan, err
	}
	ended := d.Timer.Since()
	d.Timer.Note(ended)
	d.Routed += ended - began
	d.Trace.Routed(began, ended, err)
	if !d.Request.Dry {
		d.Plan.Count(plan, err, ended-began)
	}
	d.Plan.Record(d.Receipt, d.Runtime, plan, err)
	return plan, err
}

// timedEvery is how long after one decision of a specialist another has the time of every plugin taken, beside those
// that are to be explained: at most a thousand a second pay for it.
const timedEvery = time.Millisecond

// timed reports whether the plugins of this decision are timed.
func (d *Dispatch) timed(now time.Time) bool {
	return d.Request.Dry || d.Request.Intent.Explain ||
		d.Plan.Specialist.DueForTiming(now.Sub(d.Shared.Began), timedEvery)
}

// Run has the plan's replicas answer: all of an answer in one piece, or a stream up to the client's first byte. Then
// Underway is true, and the rest is Carry's.
func (d *Dispatch) Run(plan routing.Plan) error {
	last := &plan.Steps[len(plan.Steps)-1]
	d.steps.single = len(plan.Steps) == 1
	d.steps.answering, d.steps.answerer = last.Name, d.Runtime.Replicas[last.Ranked[0].Host]
	d.steps.protocol = d.Plan.Protocol()
	bounds := routing.Bounds{MaxAttempts: d.Runtime.Limits.MaxAttempts, Budget: d.mayRetry}
	return routing.SequentialExecutor(bounds).Execute(d.ctx, plan, d)
}

// Underway reports whether a replica holds the request: its stream has begun and is not over.
func (d *Dispatch) Underway() bool { return d.turn.rep != nil }

// Carried reports whether the courier has taken the request: no other attempt can be made.
func (d *Dispatch) Carried() bool { return d.carried }

// Resolve settles failures of which it was not known whose fault they were, see doubts. served says that a replica has
// begun to answer.
func (d *Dispatch) Resolve(served bool) { d.doubts.resolve(served) }

// Finish ends the attempts: all that earlier steps left behind is given back. Idempotent.
func (d *Dispatch) Finish() {
	d.steps.handBack()
	d.held.pass.End()
}

// Slim lets go of what only a retry needs, once a stream has begun. A continuation needs the body, and the prompt's
// chain, which it shows to a Gate.
func (d *Dispatch) Slim() {
	keep := d.Relay.Cont != nil
	d.Request.Release(keep)
	d.Plan.Release(keep)
}

// Close gives back all that is held. Idempotent.
func (d *Dispatch) Close() {
	d.settle(fault.ErrAbandoned) // nothing is held any more unless there was a panic
	d.Resolve(false)
	d.Finish()
	d.Plan.Release(d.Relay.Cont != nil)
}
