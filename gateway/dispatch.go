package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"octet/engine"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler"
)

// Dispatch is one replica's turn: breaker, admission, engine, relay. Until the first byte is out its errors are retryable.
func (x *exchange) Dispatch(ctx context.Context, _ routing.Step, host index.HostID, _ int) error {
	rep := x.rt.Replicas[host]
	if rep == nil {
		return fmt.Errorf("%w: slot %d left the fleet", routing.ErrNotTried, host)
	}
	x.attempts++
	x.free = true
	at := x.openAttempt(rep, host)
	err := x.attempt(ctx, rep, at)
	x.closeAttempt(at, err)
	if errors.Is(err, fleet.ErrBreakerOpen) {
		return fmt.Errorf("%w: %w", routing.ErrNotTried, err)
	}
	if err == nil || x.started || !elsewhere(err) {
		return err
	}
	return fmt.Errorf("%w: %w", routing.ErrRetryable, err)
}

// elsewhere says whether another replica may do better.
func elsewhere(err error) bool {
	return errors.Is(err, scheduler.ErrRefused) && !errors.Is(err, scheduler.ErrDeadline) ||
		errors.Is(err, engine.ErrConnect) || errors.Is(err, engine.ErrReset) || errors.Is(err, engine.ErrProtocol) ||
		errors.Is(err, errEngineBusy)
}

func (x *exchange) attempt(ctx context.Context, rep *Replica, at *Attempt) error {
	permit, err := rep.Fleet.Take()
	if err != nil {
		return err
	}
	defer permit.Settle(fleet.Cancelled) // a panic must not keep a probe's place
	for {
		err = x.hold(ctx, rep, at)
		if !errors.Is(err, errPreempted) || x.started {
			break
		}
		x.preempted++ // before its first token: nobody has seen anything, so it queues again
	}
	verdict := blame(err)
	permit.Settle(verdict)
	switch {
	case errors.Is(err, engine.ErrConnect):
		rep.Fleet.OnConnectFailure()
	case verdict == fleet.Succeeded:
		rep.Fleet.OnSuccess()
	}
	return err
}

// hold keeps a place on the replica for as long as the engine answers.
func (x *exchange) hold(ctx context.Context, rep *Replica, at *Attempt) error {
	ticket, err := x.enter(ctx, rep, at)
	if err != nil {
		return err
	}
	defer ticket.Release()
	x.free = false
	rep.Fleet.Begin()
	defer rep.Fleet.End()
	return x.call(ctx, rep, ticket)
}

// enter asks the replica's Gate. A request of higher priority may take the place back until the first token.
func (x *exchange) enter(ctx context.Context, rep *Replica, at *Attempt) (*scheduler.Ticket, error) {
	start := x.s.now()
	ticket, err := rep.Gate.Admit(ctx, x.admissionRequest())
	waited := x.s.now().Sub(start)
	x.noteQueue(at, waited)
	if err != nil && errors.Is(context.Cause(ctx), errDeadline) {
		return nil, &scheduler.Refusal{Reason: scheduler.ErrDeadline, Detail: "the deadline passed in the queue"}
	}
	return ticket, cause(ctx, err)
}

// call sends the request to the engine and relays its answer.
func (x *exchange) call(ctx context.Context, rep *Replica, ticket *scheduler.Ticket) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.unwatch = watchPreemption(ticket, cancel)
	defer x.unwatch()
	resp, err := x.send(ctx, rep)
	if err != nil {
		return cause(ctx, x.lateDeadline(err))
	}
	defer resp.Close()
	if resp.Status() != 200 {
		return x.engineRefused(resp)
	}
	if x.req.Stream {
		err = x.relay(rep, resp, ticket)
	} else {
		err = x.relayUnary(rep, resp, ticket)
	}
	return cause(ctx, err)
}

// cause prefers the reason for which ctx ended over the error that its end provoked.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// watchPreemption ends the attempt when its ticket has to give way; the returned func ends the watch.
func watchPreemption(t *scheduler.Ticket, cancel context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-t.Preempted():
			cancel(errPreempted)
		case <-done:
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// send patches the body for this replica and sends it. Everything else of it is forwarded as it came.
func (x *exchange) send(ctx context.Context, rep *Replica) (engine.Response, error) {
	segments, err := x.req.Splice(x.edits(rep), x.segments[:0])
	if err != nil {
		return nil, err
	}
	x.segments = segments
	return rep.Client.Do(ctx, &engine.Request{
		Method: "POST", Path: x.path(), Segments: segments, RequestID: x.id, Stream: x.req.Stream, Bearer: rep.APIKey,
		HeaderTimeout: x.firstTokenBudget(), IdleTimeout: x.firstTokenBudget(),
	})
}

func (x *exchange) path() string {
	if x.kind == wire.Completion {
		return "/v1/completions"
	}
	return "/v1/chat/completions"
}

// firstTokenBudget is how long the engine may take until its first byte: of a unary answer, which shows nothing before its
// end, that is the whole answer.
func (x *exchange) firstTokenBudget() time.Duration {
	if !x.req.Stream {
		return x.rt.Limits.AnswerTimeout
	}
	budget := x.rt.Limits.TTFTTimeout
	if !x.intent.TTFTDeadline.IsZero() {
		budget = min(budget, max(x.intent.TTFTDeadline.Sub(x.s.now()), time.Millisecond))
	}
	return budget
}

// edits are the members of the body that must change for this replica.
func (x *exchange) edits(rep *Replica) []wire.Edit {
	model := rep.Model
	if x.verdict.Adapter != "" {
		model = x.verdict.Adapter
	}
	edits := make([]wire.Edit, 0, 3)
	if x.req.Model != model {
		edits = append(edits, wire.Edit{Key: "model", Raw: wire.AppendQuoted(nil, model)})
	}
	if rep.ForwardPriority && x.intent.Priority != 0 {
		edits = append(edits, wire.Edit{Key: "priority", Raw: strconv.AppendInt(nil, int64(enginePriority(rep.Engine, x.intent.Priority)), 10)})
	}
	if x.tenant.CacheSalt != "" {
		edits = append(edits, wire.Edit{Key: "cache_salt", Raw: wire.AppendQuoted(nil, x.tenant.CacheSalt)})
	}
	return edits
}

// enginePriority turns our sign (larger is sooner) into the engine's: vLLM runs lower values first, SGLang higher.
func enginePriority(kind string, priority int) int {
	if kind == "vllm" {
		return -priority
	}
	return priority
}
