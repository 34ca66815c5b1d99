package dispatch

import (
	"cmp"
	"errors"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
	"octet/routing"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// away is what the replicas that refused a request have said of the places to come, and where the request comes back
// to.
type away struct {
	after time.Duration // until the first of them has one; 0 is not known
	rate  float64       // of places a second, of all that refused
	room  int           // to wait in, likewise
	wait  time.Duration // the shortest that one of them foresaw; 0 is not known

	returns *ensemble.Specialist // that sent the request away, where it comes back as told; nil if there is none
}

// refused notes one refusal.
func (a *away) refused(err error) {
	var no *scheduler.Refusal
	if !errors.As(err, &no) {
		return
	}
	a.note(no.RetryAfter, no.Every, no.Room)
	if no.Wait > 0 && (a.wait == 0 || no.Wait < a.wait) {
		a.wait = no.Wait
	}
}

func (a *away) note(after, every time.Duration, room int) {
	if after <= 0 {
		return
	}
	if a.after == 0 || after < a.after {
		a.after = after
	}
	if every > 0 {
		a.rate += 1 / every.Seconds()
	}
	a.room += room
}

// forget drops what replicas have said, as others are asked.
func (a *away) forget() { a.after, a.rate, a.room, a.wait = 0, 0, 0, 0 }

// every is the time between places of all that refused; 0 is not known.
func (a *away) every() time.Duration {
	if a.rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / a.rate)
}

// caller identifies a request when it comes again.
func caller(r *intake.Request) gate.Caller {
	id, exact := r.Caller()
	return gate.Caller{ID: id, Exact: exact}
}

// comesTo notes whether the request was sent away by a specialist that is asked now, and comes when it was told to.
func (a *away) comesTo(sp *ensemble.Specialist, r *intake.Request, timer *intake.Timer) {
	a.forget()
	if b := sp.Away; b != nil && !r.Dry && b.Away() > 0 && b.Come(caller(r), timer.Now()) {
		a.returns = sp
	}
}

// returnsTo reports whether the request comes back to a specialist as it was told.
func (a *away) returnsTo(sp *ensemble.Specialist) bool { return a.returns == sp }

// served forgets that the request was sent away: it has a place.
func (a *away) served(sp *ensemble.Specialist, r *intake.Request) {
	if b := sp.Away; b != nil && b.Away() > 0 {
		b.Served(caller(r))
	}
}

// Refused is what the replicas of a specialist have said that refused a request.
type Refused struct {
	sp      *ensemble.Specialist
	adapter string
	away    away
}

// Refused returns what the replicas have said that were asked since the last Route.
func (d *Dispatch) Refused() Refused { return Refused{d.Plan.Specialist, d.Plan.Adapter, d.away} }

// Wait returns the shortest wait that one of them foresaw; 0 is not known.
func (r *Refused) Wait() time.Duration { return r.away.wait }

// ReturnTo makes the refusal of a specialist that was asked before the one that the client hears.
func (d *Dispatch) ReturnTo(r Refused) {
	d.Plan.At(r.sp, r.adapter)
	d.away = r.away
}

// vacancies notes when the replicas of a specialist have places.
func (a *away) vacancies(rt *ensemble.Runtime, sp *ensemble.Specialist) {
	a.forget()
	for _, rep := range &rt.Replicas {
		if rep != nil && rep.Fleet.Spec().Specialist == sp.Name {
			after, every := rep.Gate.Vacancy()
			a.note(after, every, 0)
		}
	}
}

// ComeBack tells a refused request when to come back: behind all that were sent away before it. The error is err, with
// that.
func (d *Dispatch) ComeBack(err error) error {
	sp, a := d.Plan.Specialist, &d.away
	if err == nil || d.Relay.Begun() || d.Request.Dry || sp == nil || sp.Away == nil {
		return err
	}
	var no *scheduler.Refusal
	var none *routing.NoCandidateError
	switch {
	case errors.As(err, &no) && errors.Is(no, scheduler.ErrDeadline):
		if no.RetryAfter > 0 {
			no.RetryAfter = d.comeAt(no.RetryAfter, cmp.Or(no.Every, a.every()), no.Room)
		}
	case errors.As(err, &no):
		if a.after > 0 && !errors.Is(no, scheduler.ErrExceedsPool) {
			no.RetryAfter = d.comeAt(a.after, a.every(), a.room)
		}
	case errors.As(err, &none) && none.Verdict == routing.Overloaded:
		a.vacancies(d.Runtime, sp)
		e := fault.Of(err)
		e.RetryAfter = d.comeAt(a.after, a.every(), 0)
		return e
	}
	return err
}

// comeAt is when the request is to come back.
func (d *Dispatch) comeAt(after, every time.Duration, room int) time.Duration {
	r := d.Request
	s := gate.Sent{Caller: caller(r), Priority: r.Intent.Priority, After: after, Every: every, Room: room}
	return d.Plan.Specialist.Away.Tell(&s, r.Arrival, d.Timer.Now())
}
