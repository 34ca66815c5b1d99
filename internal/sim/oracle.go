package sim

import (
	"slices"
	"time"

	"octet/scheduler"
)

// Verdict compares refusals for a deadline with what was possible.
type Verdict struct {
	Refused  uint64 // for their deadline, at once
	Feasible uint64 // of those, could have been served with all others: earliest deadline first
}

// oracle judges by the true service times, which an engine of exact pace has. It keeps the earliest-deadline-first order
// over the places of the engine; nobody who runs is interrupted.
type oracle struct {
	Verdict
	places int
	frees  []scheduler.Time // when the running will be done
	open   []claim          // who waits, and the one who asks
}

// claim is one request's need: so much time before a deadline.
type claim struct {
	service  time.Duration
	deadline scheduler.Time
}

// picture notes who runs and waits when j asks.
func (o *oracle) picture(r *gateRun, j *job) {
	o.frees, o.open = o.frees[:0], o.open[:0]
	if r.plan.Batching {
		return
	}
	for _, other := range r.running {
		o.frees = append(o.frees, max(r.now, other.ends))
	}
	for len(o.frees) < o.places {
		o.frees = append(o.frees, r.now)
	}
	for _, other := range r.waiting {
		o.open = append(o.open, r.engine.claim(other))
	}
	o.open = append(o.open, r.engine.claim(j))
}

// refused judges the refusal of the one who asked last.
func (o *oracle) refused() {
	if len(o.frees) == 0 {
		return
	}
	o.Refused++
	if o.feasible() {
		o.Feasible++
	}
}

func (o *oracle) feasible() bool {
	slices.SortStableFunc(o.open, func(a, b claim) int { return int(a.deadline - b.deadline) })
	for _, c := range o.open {
		place := 0
		for i, at := range o.frees {
			if at < o.frees[place] {
				place = i
			}
		}
		if o.frees[place] += c.service; o.frees[place] > c.deadline {
			return false
		}
	}
	return true
}

const never = scheduler.Time(1 << 62)

// claim is what j needs if nothing of its prompt is cached.
func (e *gateEngine) claim(j *job) claim {
	tokens := len(j.Tokens) + j.generated
	c := claim{e.plan.Cost.Step + time.Duration(tokens)*e.plan.Cost.Prefill + e.pace()*time.Duration(j.Answer-j.generated-1), never}
	if j.promised {
		c.deadline = j.Deadline
	}
	return c
}
