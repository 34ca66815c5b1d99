package gateway

import (
	"cmp"
	"errors"
	"time"

	"octet/routing"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// away is what the replicas that refused a request have said of the places to come.
type away struct {
	after time.Duration // until the first of them has one; 0 is not known
	rate  float64       // of places a second, of all that refused
	room  int           // to wait in, likewise
}

// refused notes one refusal.
func (a *away) refused(err error) {
	var no *scheduler.Refusal
	if errors.As(err, &no) && no.RetryAfter > 0 {
		a.note(no.RetryAfter, no.Every, no.Room)
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

// every is the time between places of all that refused; 0 is not known.
func (a *away) every() time.Duration {
	if a.rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / a.rate)
}

// caller identifies this request when it comes again.
func (x *exchange) caller() gate.Caller {
	id, exact := x.request.Caller()
	return gate.Caller{ID: id, Exact: exact}
}

// comesBack notes whether the request was sent away by the specialist that is asked now, and comes when it was told to.
func (x *exchange) comesBack() {
	x.turnedAway = away{}
	if b := x.sp.Away; b != nil && !x.request.Dry && b.Away() > 0 && b.Come(x.caller(), x.Now()) {
		x.returnsTo = x.sp
	}
}

// heard forgets that the request was sent away: it has a place.
func (x *exchange) heard() {
	if b := x.sp.Away; b != nil && b.Away() > 0 {
		b.Served(x.caller())
	}
}

// sendAway tells a refused request when to come back: behind all that were sent away before it.
func (x *exchange) sendAway(err error) error {
	if err == nil || x.relay.Begun() || x.request.Dry || x.sp == nil || x.sp.Away == nil {
		return err
	}
	var no *scheduler.Refusal
	var none *routing.NoCandidateError
	switch a := &x.turnedAway; {
	case errors.As(err, &no) && errors.Is(no, scheduler.ErrDeadline):
		if no.RetryAfter > 0 {
			no.RetryAfter = x.comeAt(no.RetryAfter, cmp.Or(no.Every, a.every()), no.Room)
		}
	case errors.As(err, &no):
		if a.after > 0 && !errors.Is(no, scheduler.ErrExceedsPool) {
			no.RetryAfter = x.comeAt(a.after, a.every(), a.room)
		}
	case errors.As(err, &none) && none.Verdict == routing.Overloaded:
		x.vacancies()
		e := asError(err)
		e.RetryAfter = x.comeAt(a.after, a.every(), 0)
		return e
	}
	return err
}

// comeAt is when the request is to come back.
func (x *exchange) comeAt(after, every time.Duration, room int) time.Duration {
	s := gate.Sent{Caller: x.caller(), Priority: x.request.Intent.Priority, After: after, Every: every, Room: room}
	return x.sp.Away.Tell(&s, x.request.Arrival, x.Now())
}

// vacancies notes when the specialist's replicas have places.
func (x *exchange) vacancies() {
	x.turnedAway = away{}
	for _, rep := range x.rt.Replicas {
		if rep != nil && rep.Fleet.Spec().Specialist == x.sp.Name {
			after, every := rep.Gate.Vacancy()
			x.turnedAway.note(after, every, 0)
		}
	}
}
