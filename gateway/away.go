package gateway

import (
	"cmp"
	"errors"
	"sync/atomic"
	"time"

	"octet/gateway/apierr"
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

// seats is how long requests stay, which matters where limits.max_streams is near.
type seats struct {
	away *gate.Book
	took atomic.Int64 // ns, a fading mean; 0 is not known
}

// matter says whether one that leaves so many open is worth a look at the clock: while most seats are taken, and the
// first.
func (s *seats) matter(open int64, most int) bool { return open > int64(most)/2 || s.took.Load() == 0 }

// left notes how long one has stayed. Two at once may count as one.
func (s *seats) left(took time.Duration) {
	was := s.took.Load()
	if was == 0 {
		was = int64(took)
	}
	s.took.Store(was + (int64(took)-was)/32)
}

// full is when one that finds all of open seats taken is to come back; 0 is not known.
func (s *seats) full(open int, now time.Time) time.Duration {
	every := time.Duration(s.took.Load() / int64(max(1, open)))
	return s.away.Tell(&gate.Sent{After: every, Every: every}, now, now)
}

// taken notes that a request found a seat, which may be one that was sent away.
func (s *seats) taken(x *exchange) {
	if s.away.Away() > 0 {
		s.away.Come(gate.Caller{}, x.Now())
	}
}

// retryGrain is the unit of Retry-After.
const retryGrain = time.Second

// drainingError tells to come back when this process has gone, and another one may be here.
func (s *Server) drainingError() *apierr.Error {
	e := apierr.New(apierr.Draining, "", "the gateway is shutting down")
	e.RetryAfter = max(retryGrain, s.began.Add(time.Duration(s.drained.Load())).Sub(s.now()))
	return e
}
