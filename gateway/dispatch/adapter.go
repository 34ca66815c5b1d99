package dispatch

import (
	"context"
	"errors"
	"strings"
	"time"

	"octet/adapters"
	"octet/gateway/apierr"
	"octet/gateway/fault"
	"octet/routing"
	"octet/scheduler"
)

// holdAdapter has the replica whose turn it is keep the request's adapter to the end of the turn. Where it is not
// loaded yet, that is waited for: before the Gate, as a request that waits for an adapter has no use for a place. It
// returns when the adapter was there, so long after the arrival.
func (a attempt) holdAdapter(ctx context.Context, began time.Duration) (time.Duration, error) {
	t, sp := &a.turn, a.Plan.Specialist
	if a.Plan.Adapter == "" || sp.Keeper == nil || t.adapter.Held() {
		return began, nil
	}
	in := &a.Request.Intent
	now := a.Timer.At(began)
	most := a.Runtime.Limits.MaxQueueWait
	begun := a.Relay.Delivered() > 0
	left := in.FirstTokenLeft(now, begun)
	atOnce := most == 0 && !begun // nothing may wait, but streams that have begun: see enterInTime
	hurried := !atOnce && left != 0 && left < most
	if hurried {
		most = max(1, left)
	}
	hold, found, err := sp.Keeper.Hold(ctx, adapters.Ask{Host: uint16(t.rep.Host), Served: a.Plan.Adapter,
		Priority: in.Priority, Most: most, AtOnce: atOnce})
	if !found {
		ready := a.Timer.Since()
		t.at.Queued(ready - began)
		a.Queued += ready - began
		began = ready
	}
	if hurried && errors.Is(err, adapters.ErrLate) {
		err = &scheduler.Refusal{Reason: scheduler.ErrDeadline, Detail: err.Error()}
	}
	if err != nil {
		return began, unrun(ctx, err, "no replica had the adapter")
	}
	t.adapter = hold
	return began, nil
}

// lostAdapter reports whether the replica is to be asked again, once its engine has the request's adapter: it had it,
// and has refused the request as it has unloaded it by itself, or begun anew. That is tried once a turn.
func (a attempt) lostAdapter(ctx context.Context, err error) bool {
	t := &a.turn
	said, is := errors.AsType[*apierr.Error](err)
	if !is || !t.adapter.Held() || t.lost || a.Relay.Begun() {
		return false
	}
	named := said.Code == apierr.InvalidRequest && strings.Contains(said.EngineText, a.Plan.Adapter)
	if said.Code != apierr.ModelNotFound && !named || !t.adapter.Lost(ctx) {
		return false
	}
	t.adapter.Release()
	t.lost, t.chats = true, false
	return true
}

// Misses reports whether the request may be routed anew after err: the adapter was not to be had where it was looked
// for, the engine that was to meet those that answer has failed, or all engines have, another may be found now, and the
// client has seen nothing. The latter two are retries as any other, the last by the newest Runtime, which is d's from
// then on.
func (d *Dispatch) Misses(err error) bool {
	if err == nil || d.Relay.Begun() || d.carried || d.ctx.Err() != nil {
		return false
	}
	if fault.LacksAdapter(err) || d.unmet(err) {
		return true
	}
	if !d.allFailed(err) {
		return false
	}
	d.toNewest()
	return true
}

// allFailed reports whether all replicas that the request was routed to failed, or were too short for it, and others
// may be found: those that can load its adapter, where no other had it, or that have come since it was routed. The
// former are left out.
func (d *Dispatch) allFailed(err error) bool {
	sp := d.Plan.Specialist
	return sp != nil && (d.Plan.Adapter != "" && sp.Keeper != nil || d.Shared.Newest() != d.Runtime) &&
		(fault.CauseOf(err) == fault.ByReplica && errors.Is(err, routing.ErrRetryable) || fault.TooShort(err)) &&
		!errors.Is(err, routing.ErrNoBudget) &&
		d.Request.Intent.Replica == "" && d.Attempts < d.Runtime.Limits.MaxAttempts && d.mayRetry()
}
