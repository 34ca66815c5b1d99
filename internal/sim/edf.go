package sim

import (
	"slices"

	"octet/scheduler"
)

// EDF serves the load of plan under seed on as many places as the engine has, earliest deadline first, knowing how long
// each job takes: a job that can be served in time together with all that were accepted before is accepted. No job is
// interrupted; one without a deadline starts within the Gate's longest wait. It returns how many were served by their
// deadline.
//
// This is what the queue's own order costs: a Gate serves by arrival, because clients rely on that.
func EDF(plan *GatePlan, seed uint64) (served uint64) {
	engine := newGateEngine(plan)
	e := edf{frees: make([]scheduler.Time, plan.Gate.MaxRunning)}
	load := NewWorkload(plan.Load, seed)
	for a, ok := load.Next(); ok; a, ok = load.Next() {
		j := &job{Arrival: a, promised: a.Deadline > 0 && a.ID > uint64(plan.Warm)}
		c := engine.claim(j)
		if !j.promised {
			c.deadline = a.At + plan.Gate.MaxWait + c.service
		}
		if e.accepts(c, a.At) && j.promised {
			served++
		}
	}
	return served
}

// edf is the running and the waiting jobs, the earliest deadline first.
type edf struct {
	frees   []scheduler.Time // when each place is free
	waiting []claim
	play    []scheduler.Time
}

// accepts queues c where all can still be in time.
func (e *edf) accepts(c claim, now scheduler.Time) bool {
	e.start(now)
	e.play = append(e.play[:0], e.frees...)
	at, _ := slices.BinarySearchFunc(e.waiting, c, func(a, b claim) int { return int(a.deadline - b.deadline) })
	waiting := slices.Insert(e.waiting, at, c)
	for _, w := range waiting {
		if take(e.play, w) > w.deadline {
			e.waiting = slices.Delete(waiting, at, at+1)
			return false
		}
	}
	e.waiting = waiting
	e.start(now)
	return true
}

// start gives a place to every job whose turn has come by now.
func (e *edf) start(now scheduler.Time) {
	for len(e.waiting) > 0 && slices.Min(e.frees) <= now {
		take(e.frees, e.waiting[0])
		e.waiting = slices.Delete(e.waiting, 0, 1)
	}
}

// take has c occupy the place that is free first, not before it came, and returns when it will be done.
func take(frees []scheduler.Time, c claim) scheduler.Time {
	place := 0
	for i, at := range frees {
		if at < frees[place] {
			place = i
		}
	}
	frees[place] = max(c.from, frees[place]) + c.service
	return frees[place]
}
