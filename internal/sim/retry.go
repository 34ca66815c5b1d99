package sim

import (
	"time"

	"octet/scheduler"
	"octet/scheduler/gate"
)

// Retries says how honest Retry-After was: of requests that were refused with one, and came back when it said, while no
// other request came.
type Retries struct {
	Told      uint64 // with a time
	Untold    uint64 // without one
	Succeeded uint64 // were let in or let wait
	Twice     uint64 // were told more than twice the time after which that was so
}

// attempt is one refused request that comes back.
type attempt struct {
	request gate.Request
	slack   time.Duration // of its deadline at every try; 0 means no deadline
	told    time.Duration
	needed  time.Duration // after which it would have done; 0 is not yet
	back    bool
}

// RunRetries loads a Gate under seed, asks at the end of the load what becomes of requests of several kinds, and
// watches the refused ones until they came back. Asking changes nothing, so they do not hinder each other.
func RunRetries(plan *GatePlan, seed uint64) (Retries, error) {
	r, err := newGateRun(plan, seed)
	if err != nil {
		return Retries{}, err
	}
	for r.more {
		if err := r.step(); err != nil {
			return Retries{}, err
		}
	}
	var out Retries
	since, open := r.now, r.turnedAway(&out)
	for len(open) > 0 {
		open = r.comeBack(open, since, &out)
		if len(r.running)+len(r.waiting) == 0 {
			r.emptied(open, since, &out)
			break
		}
		if err := r.step(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// turnedAway asks for requests of several sizes and deadlines, and returns those that are told to come back.
func (r *gateRun) turnedAway(out *Retries) (open []*attempt) {
	for i := range 12 {
		a := &attempt{request: gate.Request{ID: "probe", PromptTokens: 20 << (i % 3), MaxNew: 8 << (i % 3)},
			slack: time.Duration(i) * 3 * time.Second}
		answer := r.try(a)
		switch {
		case answer.State != scheduler.Refused:
		case answer.RetryAfter == 0:
			out.Untold++
		default:
			out.Told++
			a.told = answer.RetryAfter
			open = append(open, a)
		}
	}
	return open
}

func (r *gateRun) try(a *attempt) scheduler.Answer {
	if a.slack > 0 {
		a.request.Deadline = origin.Add(r.now + a.slack)
	}
	return r.gate.Probe(a.request)
}

// comeBack lets those try whose time comes before the next event, and notes which would have been let in now. It
// returns the attempts of which not all is known yet.
func (r *gateRun) comeBack(open []*attempt, since scheduler.Time, out *Retries) (rest []*attempt) {
	now, until := r.now, r.upcoming()
	for _, a := range open {
		if a.needed == 0 && now > since && r.try(a).State != scheduler.Refused {
			a.needed = now - since
		}
		if at := since + a.told; !a.back && at <= until {
			a.back = true
			r.now = max(now, at)
			if r.try(a).State != scheduler.Refused {
				out.Succeeded++
			}
			r.now = now
		}
		if a.back && a.needed > 0 {
			out.Twice += twice(a, a.needed)
			continue
		}
		rest = append(rest, a)
	}
	return rest
}

// emptied settles the attempts that are still away when no job is in the way any more. One that could not even be
// served then was told to come back for nothing.
func (r *gateRun) emptied(open []*attempt, since scheduler.Time, out *Retries) {
	empty := r.now
	for _, a := range open {
		r.now = max(r.now, since+a.told)
		if !a.back && r.try(a).State != scheduler.Refused {
			out.Succeeded++
		}
		switch r.now = empty; {
		case a.needed > 0:
			out.Twice += twice(a, a.needed)
		case r.try(a).State != scheduler.Refused:
			out.Twice += twice(a, empty-since)
		}
	}
}

func twice(a *attempt, needed time.Duration) uint64 {
	if a.told > 2*needed {
		return 1
	}
	return 0
}

// upcoming returns when the next thing happens.
func (r *gateRun) upcoming() scheduler.Time {
	at := never
	if done, busy := r.engine.first(); busy {
		at = done
	}
	if over, waits := r.leave.first(); waits {
		at = min(at, over)
	}
	return at
}

// RetryPlan is a load that ends with a queue.
func RetryPlan() GatePlan {
	p := GatePlan{Name: "retry", Gate: gateSmall, Load: gateBase, Cost: gateCost, Warm: 150}
	p.Gate.MaxWaiting, p.Load.Requests, p.Load.Gap, p.Load.Deadlines = 24, 160, 200*time.Millisecond, 0
	return p
}

// Add adds what another run saw.
func (o *Retries) Add(other Retries) {
	o.Told += other.Told
	o.Untold += other.Untold
	o.Succeeded += other.Succeeded
	o.Twice += other.Twice
}
