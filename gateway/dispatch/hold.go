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
func (d *Dispatch) MayBeHeld(err error) bool { return !d.Choice.OfferBack && holder{d}.holds(err) }

// Why returns why a request is not answered that err has kept from its replicas, and none from being routed again:
// none, where it is to be held, as the replica that was to load its adapter serves no more and no other does; else err.
func (d *Dispatch) Why(err, none error) error {
	if fault.LacksAdapter(err) && (holder{d}).holds(none) {
		return none
	}
	return err
}

// Hold holds a request that err has kept from its specialist's replicas, as none of them serves, until one does. It
// returns true if the request is to be routed again, by the newest Runtime, which is d's from then on; else the error,
// ErrGone where that Runtime has no such specialist.
func (d *Dispatch) Hold(ctx context.Context, err error) (again bool, why error) {
	d.held.pass.End()
	return holder{d}.hold(ctx, err)
}

// holder holds a request that no replica serves, or finds out why it is not held.
type holder struct{ *Dispatch }

// hold is Hold, once nothing is held of an earlier one.
func (h holder) hold(ctx context.Context, err error) (again bool, why error) {
	if !h.holds(err) {
		return h.unlessOneCame(err)
	}
	sp := h.Plan.Specialist
	if !h.Choice.OfferBack && h.Shared.Newest().Specialist(sp.Name) == nil {
		return h.renew(sp.Name)
	}
	if terms := sp.Hold.Terms(); h.Choice.OfferBack && terms.For > 0 {
		return false, &scheduler.Refusal{Reason: scheduler.ErrNoReplica, RetryAfter: terms.Back, Wait: terms.Back,
			Offered: true, Detail: "no replica serves"}
	} else if terms.For == 0 && !terms.Wakes && !errors.Is(err, ErrBehind) {
		return h.unlessOneCame(err)
	}
	if back := sp.Hold.Terms().Back; h.Choice.tooLate(back) {
		return false, &scheduler.Refusal{Reason: scheduler.ErrNoReplica, RetryAfter: back, Wait: back,
			Detail: "no replica serves"}
	}
	began := h.Timer.Now()
	if err := h.pauseInVain(ctx); err != nil {
		return false, h.notHeld(unrun(ctx, err, noneServed))
	}
	waiter, err := sp.Hold.Enter(h.toHold())
	if err != nil {
		return false, h.notHeld(err)
	}
	h.held.since = waiter.Since()
	h.held.pass, err = waiter.Await(ctx)
	waited := h.Timer.Now().Sub(began)
	h.traceHeld(began, waited, err)
	h.held.total, h.Queued = h.held.total+waited, h.Queued+waited
	if err != nil {
		h.held.pass = nil
		return false, h.notHeld(unrun(ctx, err, noneServed))
	}
	h.held.woke, h.held.anew = h.held.woke || h.held.pass.Woke(), false
	return h.renew(sp.Name)
}

// unlessOneCame returns err, as the request is not held for it. A replica may have come to serve since the pipeline
// found none: then the request is routed again, once by each Runtime until it is held.
func (h holder) unlessOneCame(err error) (again bool, why error) {
	before := h.Runtime
	if !h.mayBeHeld(err) || !h.foundNone(err) || !h.serves() || h.held.anew && h.Shared.Newest() == before {
		return false, err
	}
	again, why = h.renew(h.Plan.Specialist.Name)
	h.held.anew = h.Runtime == before
	return again, why
}

// serves reports whether a replica of the request's specialist serves, by the newest Runtime: the request may have been
// routed by one before it.
func (h holder) serves() bool {
	sp := h.Shared.Newest().Specialist(h.Plan.Specialist.Name)
	return sp != nil && sp.Snapshot().Serves()
}

// traceHeld notes in the trace that the request was held from a time on for so long.
func (h holder) traceHeld(began time.Time, waited time.Duration, err error) {
	if h.Trace != nil {
		from := began.Sub(h.Request.Arrival)
		h.Trace.Held(from, from+waited, err)
	}
}

const noneServed = "no replica served"

// inVain is the pause of a request that was let out and has found no replica: what let it out is about to see the same.
const inVain = 20 * time.Millisecond

// pauseInVain waits for inVain if the request was let out before.
func (h holder) pauseInVain(ctx context.Context) error {
	if h.held.since.IsZero() {
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
func (h holder) holds(err error) bool {
	switch {
	case !h.mayBeHeld(err):
		return false
	case errors.Is(err, ErrBehind) || errors.Is(err, place.ErrAsleep):
		return true
	}
	return h.foundNone(err) && !h.serves()
}

// mayBeHeld reports whether requests are held where err came from, and nothing of the answer has begun.
func (h holder) mayBeHeld(err error) bool {
	sp := h.Plan.Specialist
	return err != nil && sp != nil && sp.Hold != nil && !h.Request.Dry && !h.Relay.Begun()
}

// foundNone reports whether err is the pipeline's, which found no replica that can be used.
func (h holder) foundNone(err error) bool {
	var none *routing.NoCandidateError
	return errors.As(err, &none) && none.Verdict == routing.Unavailable && h.Request.Intent.Replica == ""
}

// toHold is what is to be known of the request while it is held.
func (h holder) toHold() hold.Request {
	in := &h.Request.Intent
	r := hold.Request{ID: h.Request.ID, Priority: in.Priority, Tenant: h.Request.Tenant.Name,
		Arrived: h.Request.Arrival, Cost: len(h.Request.Bytes), Since: h.held.since, Deadline: in.Deadline}
	if first := in.TTFTDeadline; !first.IsZero() && (r.Deadline.IsZero() || first.Before(r.Deadline)) {
		r.Deadline = first
	}
	return r
}

// notHeld notes a refusal of those that hold requests, as of a Gate.
func (h holder) notHeld(err error) error {
	h.away.forget()
	h.away.refused(err)
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
func (h holder) renew(specialist string) (again bool, err error) {
	h.Runtime = h.Shared.Newest()
	h.heirs.died = index.HostBitmap{} // what serves now may be one of them
	if h.Runtime.Specialist(specialist) == nil {
		h.held.pass.End()
		return false, ErrGone
	}
	return true, nil
}

// Held returns how long the request was held, and whether a replica was woken for it.
func (d *Dispatch) Held() (total time.Duration, woke bool) { return d.held.total, d.held.woke }
