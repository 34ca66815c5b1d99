package gateway

import (
	"context"
	"errors"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// openReceipt starts the record of this request's decision.
func (x *exchange) openReceipt() {
	r := &x.request
	x.receipt.Open(r.ID, r.Kind.String(), r.Arrival, &receipt.Asked{
		Model: r.Parsed.Model, Intent: r.Intent.Intent, Adapter: r.Intent.Adapter, Session: r.Intent.Session != "",
		Priority: r.Intent.Asked, PriorityInUse: r.Intent.Priority,
		DeadlineMs: msUntil(r.Arrival, r.Intent.Deadline), TTFTDeadlineMs: msUntil(r.Arrival, r.Intent.TTFTDeadline),
		Stream: r.Stream, Policy: r.Parsed.Policy().String(), MaxTokens: max(r.Parsed.MaxTokens, 0),
	})
	x.recordDecision()
}

func msUntil(from, to time.Time) int64 {
	if to.IsZero() {
		return 0
	}
	return to.Sub(from).Milliseconds()
}

// recordDecision records the verdict as it is now.
func (x *exchange) recordDecision() {
	x.receipt.Decide(&x.decision.Verdict, x.decision.Demoted, x.decision.Probe, x.decision.Named(x.rt))
}

// recordRouting adds one specialist's passes through the pipeline, one for each step of the plan.
func (x *exchange) recordRouting(plan routing.Plan, err error, took time.Duration) {
	if !x.request.Dry {
		x.sp.Pipeline.Planned(x.route, plan, err, took)
	}
	x.routed += took
	x.receipt.Route(
		&receipt.Pipeline{Specialist: x.sp.Name, BlockSize: x.sp.BlockSize,
			Names:  x.rt.ReplicaNames(),
			Depths: x.sp.Depths(x.route.View())},
		receipt.Prompt{Tokens: x.prompt.Tokens, Exact: x.prompt.Exact, Blocks: len(x.prompt.Chain)},
		x.route.Selections(), plan, err)
}

// openAttempt records the start of a replica's turn, so long after the arrival.
func (x *exchange) openAttempt(step string, rep *ensemble.Replica, host index.HostID,
	began time.Duration) *receipt.Attempt {
	x.predicted = x.predict(host)
	x.foretell()
	return x.receipt.Attempt(x.sp.Name, step, rep.Name, max(0, x.foretold), began)
}

// predict returns how many tokens of the prompt replica host is believed to serve from its cache.
func (x *exchange) predict(host index.HostID) int {
	return receipt.Servable(x.sp.Held(x.route.View(), host), x.prompt.Tokens, x.sp.BlockSize)
}

func (x *exchange) noteQueue(at *receipt.Attempt, waited time.Duration) {
	at.Queued(waited)
	x.queued += waited
}

func (x *exchange) closeAttempt(at *receipt.Attempt, err error) {
	if x.seen = x.relay.Ended(); x.seen == 0 {
		x.seen = x.Since()
	}
	if err == nil {
		at.Close(x.seen, receipt.OK, "")
		return
	}
	at.Close(x.seen, outcomeOf(err), detail(err))
	x.s.metrics.AttemptFailed(x.sp.Name, at.Outcome)
}

// outcomeOf names how an attempt failed: a code of the contract, or why it is no failure of the replica.
func outcomeOf(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "client_gone"
	case errors.Is(err, routing.ErrNotTried) && !errors.Is(err, fleet.ErrBreakerOpen):
		return "not_tried"
	case errors.Is(err, stream.ErrSlowClient):
		return "client_slow"
	}
	return string(asError(err).Code)
}

// noteCached holds what the engine says it had cached against what was thought.
func (x *exchange) noteCached(u sse.Usage) {
	if cached := x.cachedFor(u); cached >= 0 {
		x.turn.place.Cached(cached)
	}
	x.Usage(u)
}

// cachedFor is what the engine says it had cached of the prompt, -1 where that says nothing of the replica's own cache,
// as of a prompt that was handed over.
func (x *exchange) cachedFor(u sse.Usage) int {
	if u.CachedKnown && x.relay.Cont.Base() == 0 && !x.turn.handed {
		return u.CachedTokens
	}
	return -1
}

// Usage implements stream.Observer: it holds what the engine delivered from its cache against what was predicted.
func (x *exchange) Usage(u sse.Usage) {
	if x.cachedFor(u) >= 0 {
		x.noteRatio(u)
		x.turn.at.Delivered(u.CachedTokens)
		x.notePredicted(u.CachedTokens)
	}
}

// Answered implements stream.Observer: what earlier steps hold was for the answer's first token.
func (x *exchange) Answered() { x.releaseHeld() }

// FirstToken implements stream.Observer. It feeds the windows that the SLO headers are read from.
func (x *exchange) FirstToken(now time.Time) {
	ttft := now.Sub(x.request.Arrival)
	x.ttft = ttft
	if !x.request.Stream {
		return // a unary answer shows when it ended, not when it began
	}
	x.sp.Board.ObserveTTFT(now, ttft)
	if x.request.Intent.Intent != "" {
		x.sp.Board.ObserveIntent(now, x.request.Intent.Intent, ttft)
	}
	x.sp.Board.ObserveAdmission(now, now.Sub(x.request.Arrival.Add(x.routed+x.turn.place.Waited())))
	x.sp.Metrics.FirstToken(ttft)
}

// close writes the end of the request into the receipt, the windows, the metrics and the log.
func (x *exchange) close() {
	total := x.moment()
	now := x.At(total)
	result := x.receipt.End(x.result(total))
	x.s.metrics.Ended(x.counts(), x.request.Intent.Intent, measured(result, total))
	x.s.logEnd(x, result)
	if x.receipt.Opened() {
		x.putAway()
	}
	if x.sp != nil && x.failure == nil {
		x.sp.Board.ObserveEnd(now, x.preempted > 0)
		if !x.abort {
			x.s.decider.Conversations.Remember(&x.decision, x.sp.Name, x.prompt.Tokens+x.relay.Delivered())
		}
	}
	if x.charged > 0 || x.admitted {
		x.request.Tenant.Settle(now, x.charged, x.cost())
	}
}

// counts are the metrics of the specialist that answered; nil if none was chosen.
func (x *exchange) counts() *metrics.Specialist {
	if x.sp == nil {
		return nil
	}
	return x.sp.Metrics
}

// measured is what metrics count of a request that took so long.
func measured(r *receipt.Result, total time.Duration) *metrics.Ending {
	e := &metrics.Ending{Status: r.Status, Code: r.Code, PromptTokens: r.PromptTokens,
		CompletionTokens: r.CompletionTokens,
		Continued:        r.Continued > 0, Done: r.Done, Total: total}
	if r.CachedTokens != nil {
		e.CachedTokens = *r.CachedTokens
	}
	return e
}

// putAway keeps the receipt, and offers the answer to the verifier.
func (x *exchange) putAway() {
	ring, r := x.s.receipts.Of(x.request.Tenant.Name), x.receipt.Receipt()
	ring.Put(r)
	if text := x.toBeJudged(r); text != nil {
		if r, ok := ring.Find(r.ID); ok {
			x.s.audit.OnAnswer(x.rt, r, string(text))
		}
	}
}

// result returns what came of the request.
func (x *exchange) result(total time.Duration) receipt.Result {
	usage := x.relay.Usage()
	r := receipt.Result{
		Status: x.status, Finish: x.relay.Finish(), Done: x.failure == nil && !x.abort,
		PromptTokens: usage.PromptTokens, CompletionTokens: x.relay.Delivered(),
		TTFTMs: receipt.Ms(x.ttft), TotalMs: receipt.Ms(total), RouteUs: float64(x.routed.Nanoseconds()) / 1e3,
		Continued: x.takeovers, Preempted: x.preempted,
	}
	if x.sp != nil {
		r.Specialist = x.sp.Name
	}
	if usage.CachedKnown {
		cached := usage.CachedTokens
		r.CachedTokens = &cached
	}
	if x.failure != nil {
		r.Code = string(x.failure.Code)
	}
	return r
}

// sampleForJudge begins to keep what the client will be told, if the verifier is to judge it.
func (x *exchange) sampleForJudge() {
	if !x.request.Dry && x.s.audit.Wants() {
		x.judge = true
		x.relay.Transcript.Keep(x.s.audit.Largest())
	}
}

// toBeJudged returns a complete answer that the verifier is to judge; nil if there is none.
func (x *exchange) toBeJudged(r *receipt.Receipt) []byte {
	if !x.judge || !r.Result.Done {
		return nil
	}
	text, ok := x.relay.Transcript.Within(x.s.audit.Largest())
	if !ok || len(text) == 0 {
		return nil
	}
	return text
}

// cost is the tokens that the request took of its tenant's rate: by the engine's usage, where it came, else as far as
// is known here. A request that no engine took up costs nothing.
func (x *exchange) cost() int {
	switch {
	case !x.admitted:
		return 0
	case x.relay.Usage().PromptTokens > 0:
		return x.relay.Usage().PromptTokens + max(x.relay.Usage().CompletionTokens, x.relay.Delivered())
	}
	return x.prompt.Tokens + x.relay.Delivered()
}
