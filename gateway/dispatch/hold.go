package dispatch

import (
	"context"
	"errors"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/routing"
	"octet/routing/index"
	"octet/scheduler"
	"octet/scheduler/hold"
)

// ErrBehind is a request that has to wait behind those that are held: none overtakes them.
var ErrBehind = errors.New("others are held before it")

// ErrGone is a request that was to wait at a specialist that a reload has removed.
var ErrGone = errors.New("a reload has removed the specialist")

// held is a request's part in the holding of its specialist.
type held struct {
	pass  *hold.Pass // nil before it is let out
	since time.Time  // when it was held first; zero before
	total time.Duration
	woke  bool
	anew  bool // it was routed again as a replica had come to serve, and has not been held since
}

// Behind returns ErrBehind if requests are held at a specialist, and this one has not been let out.
func (d *Dispatch) Behind(sp *ensemble.Specialist) error {
	if sp.Hold == nil || d.Request.Dry || d.held.pass != nil || sp.Hold.Len() == 0 {
		return nil
	}
	d.Plan.At(sp, d.Plan.Adapter)
	return ErrBehind
}

// MayBeHeld reports whether Hold may hold the request after err: what it takes of its tenant's rate is due before that.
func (d *Dispatch) MayBeHeld(err error) bool { return !d.Choice.OfferBack && d.holds(err) }

// Hold holds a request that err has kept from its specialist's replicas, as none of them serves, until one does. It
// returns true if the request is to be routed again, by the newest Runtime, which is d's from then on; else the error,
// ErrGone where that Runtime has no such specialist.
func (d *Dispatch) Hold(ctx context.Context, err error) (again bool, why error) {
	d.held.pass.End()
	if !d.holds(err) {
		return d.unlessOneCame(err)
	}
	sp := d.Plan.Specialist
	if !d.Choice.OfferBack && d.Shared.Newest().Specialist(sp.Name) == nil {
		return d.renew(sp.Name)
	}
	if terms := sp.Hold.Terms(); d.Choice.OfferBack && terms.For > 0 {
		return false, &scheduler.Refusal{Reason: scheduler.ErrNoReplica, RetryAfter: terms.Back, Wait: terms.Back,
			Offered: true, Detail: "no replica serves"}
	} else if terms.For == 0 && !terms.Wakes && !errors.Is(err, ErrBehind) {
		return d.unlessOneCame(err)
	}
	if back := sp.Hold.Terms().Back; d.Choice.tooLate(back) {
		return false, &scheduler.Refusal{Reason: scheduler.ErrNoReplica, RetryAfter: back, Wait: back,
			Detail: "no replica serves"}
	}
	began := d.Timer.Now()
	if err := d.pauseInVain(ctx); err != nil {
		return false, d.notHeld(unrun(ctx, err, noneServed))
	}
	waiter, err := sp.Hold.Enter(d.toHold())
	if err != nil {
		return false, d.notHeld(err)
	}
	d.held.since = waiter.Since()
	d.held.pass, err = waiter.Await(ctx)
	waited := d.Timer.Now().Sub(began)
	d.traceHeld(began, waited, err)
	d.held.total, d.Queued = d.held.total+waited, d.Queued+waited
	if err != nil {
		d.held.pass = nil
		return false, d.notHeld(unrun(ctx, err, noneServed))
	}
	d.held.woke, d.held.anew = d.held.woke || d.held.pass.Woke(), false
	return d.renew(sp.Name)
}

// unlessOneCame returns err, as the request is not held for it. A replica may have come to serve since the pipeline
// found none: then the request is routed again, once by each Runtime until it is held.
func (d *Dispatch) unlessOneCame(err error) (again bool, why error) {
	before := d.Runtime
	if !d.mayBeHeld(err) || !d.foundNone(err) || !d.serves() || d.held.anew && d.Shared.Newest() == before {
		return false, err
	}
	again, why = d.renew(d.Plan.Specialist.Name)
	d.held.anew = d.Runtime == before
	return again, why
}

// serves reports whether a replica of the request's specialist serves, by the newest Runtime: the request may have been
// routed by one before it.
func (d *Dispatch) serves() bool {
	sp := d.Shared.Newest().Specialist(d.Plan.Specialist.Name)
	return sp != nil && sp.Snapshot().Serves()
}

// traceHeld notes in the trace that the request was held from a time on for so long.
func (d *Dispatch) traceHeld(began time.Time, waited time.Duration, err error) {
	if d.Trace != nil {
		from := began.Sub(d.Request.Arrival)
		d.Trace.Held(from, from+waited, err)
	}
}

const noneServed = "no replica served"

// inVain is the pause of a request that was let out and has found no replica: what let it out is about to see the same.
const inVain = 20 * time.Millisecond

// pauseInVain waits for inVain if the request was let out before.
func (d *Dispatch) pauseInVain(ctx context.Context) error {
	if d.held.since.IsZero() {
		return nil
	}
	pause := time.NewTimer(inVain)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// holds reports whether err means that none of the specialist's replicas serves.
func (d *Dispatch) holds(err error) bool {
	switch {
	case !d.mayBeHeld(err):
		return false
	case errors.Is(err, ErrBehind) || errors.Is(err, place.ErrAsleep):
		return true
	}
	return d.foundNone(err) && !d.serves()
}

// mayBeHeld reports whether requests are held where err came from, and nothing of the answer has begun.
func (d *Dispatch) mayBeHeld(err error) bool {
	sp := d.Plan.Specialist
	return err != nil && sp != nil && sp.Hold != nil && !d.Request.Dry && !d.Relay.Begun()
}

// foundNone reports whether err is the pipeline's, which found no replica that can be used.
func (d *Dispatch) foundNone(err error) bool {
	var none *routing.NoCandidateError
	return errors.As(err, &none) && none.Verdict == routing.Unavailable && d.Request.Intent.Replica == ""
}

// toHold is what is to be known of the request while it is held.
func (d *Dispatch) toHold() hold.Request {
	in := &d.Request.Intent
	r := hold.Request{ID: d.Request.ID, Priority: in.Priority, Tenant: d.Request.Tenant.Name,
		Arrived: d.Request.Arrival, Cost: len(d.Request.Bytes), Since: d.held.since, Deadline: in.Deadline}
	if first := in.TTFTDeadline; !first.IsZero() && (r.Deadline.IsZero() || first.Before(r.Deadline)) {
		r.Deadline = first
	}
	return r
}

// notHeld notes a refusal of those that hold requests, as of a Gate.
func (d *Dispatch) notHeld(err error) error {
	d.away.forget()
	d.away.refused(err)
	return err
}

// unrun is why a request waits no longer, of which nothing was run: it is refused for a deadline that passed while it
// waited. ctx may end at any time, so that its cause is asked for once.
func unrun(ctx context.Context, err error, while string) error {
	cause := place.Cause(ctx, err)
	if errors.Is(cause, fault.ErrDeadline) {
		return &scheduler.Refusal{Reason: scheduler.ErrDeadline, Detail: "the deadline passed while " + while}
	}
	return cause
}

// renew has the request go on by the newest Runtime: the replica that serves may be new in it.
func (d *Dispatch) renew(specialist string) (again bool, err error) {
	d.Runtime = d.Shared.Newest()
	d.heirs.died = index.HostBitmap{} // what serves now may be one of them
	if d.Runtime.Specialist(specialist) == nil {
		d.held.pass.End()
		return false, ErrGone
	}
	return true, nil
}

// Held returns how long the request was held, and whether a replica was woken for it.
func (d *Dispatch) Held() (total time.Duration, woke bool) { return d.held.total, d.held.woke }
