package sim

import (
	"slices"
	"time"

	"octet/scheduler"
)

// Verdict compares refusals for a deadline with what was possible.
type Verdict struct {
	Refused uint64 // for their deadline, at once
	Wrongly uint64 // of those, would have been in time in their turn
}

// oracle judges by the true service times, which an engine of exact pace has. It keeps the queue's own order over the
// places of the engine; no running job is interrupted.
type oracle struct {
	Verdict
	places int
	frees  []scheduler.Time // when the running will be done
	open   []*job           // the waiting jobs, and the one that asks
	last   claim            // of the job that asks
}

// claim is one request's need: so much time before a deadline.
type claim struct {
	from     scheduler.Time
	service  time.Duration
	deadline scheduler.Time
}

// picture notes the running and waiting jobs when j asks.
func (o *oracle) picture(r *gateRun, j *job) {
	o.frees = o.frees[:0]
	if r.plan.Batching || r.plan.Cost.Noise > 0 {
		return
	}
	for _, other := range r.running {
		o.frees = append(o.frees, max(r.now, other.ends))
	}
	for len(o.frees) < o.places {
		o.frees = append(o.frees, r.now)
	}
	o.open = o.open[:0]
	for _, other := range r.waiting {
		if other.before(j) {
			o.open = append(o.open, other)
		}
	}
	slices.SortFunc(o.open, func(a, b *job) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for _, other := range o.open {
		o.serve(r.engine.claim(other))
	}
	o.last = r.engine.claim(j)
}

// serve has the next in order take the place that is free first, and returns whether that is in time.
func (o *oracle) serve(c claim) bool {
	return take(o.frees, c) <= c.deadline
}

// refused judges the refusal of the job that asked last.
func (o *oracle) refused() {
	if len(o.frees) == 0 {
		return
	}
	o.Refused++
	if o.serve(o.last) {
		o.Wrongly++
	}
}

// before is the order of a queue.
func (j *job) before(o *job) bool {
	if j.Priority != o.Priority {
		return j.Priority > o.Priority
	}
	return j.At < o.At || j.At == o.At && j.asked < o.asked
}

const never = scheduler.Time(1 << 62)

// claim is what j needs if nothing of its prompt is cached.
func (e *gateEngine) claim(j *job) claim {
	tokens := len(j.Tokens) + j.generated
	c := claim{j.At, e.plan.Cost.Step + time.Duration(tokens)*e.plan.Cost.Prefill +
		e.pace()*time.Duration(j.Answer-j.generated-1), never}
	if j.promised {
		c.deadline = j.Deadline
	}
	return c
}
