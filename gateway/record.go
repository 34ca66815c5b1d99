package gateway

import (
	"context"
	"errors"
	"time"

	"octet/gateway/metrics"
	"octet/gateway/sse"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// openReceipt starts the record of this request's decision.
func (x *exchange) openReceipt() {
	r := &x.draft
	r.ID, r.RequestID, r.Time, r.kind = x.receiptNo, x.id, x.arrival, x.kind
	x.asked(&r.Asked)
	x.decision(&r.Decision)
	x.receipt = r
}

// asked makes a what the client said.
func (x *exchange) asked(a *Asked) {
	a.Model, a.Intent, a.Adapter, a.Session = x.req.Model, x.intent.Intent, x.intent.Adapter, x.intent.Session != ""
	a.Priority, a.PriorityInUse, a.Stream, a.policy = x.intent.Asked, x.intent.Priority, x.stream, x.req.Policy()
	a.MaxTokens = max(x.req.MaxTokens, 0)
	a.DeadlineMs, a.TTFTDeadlineMs = msUntil(x.arrival, x.intent.Deadline), msUntil(x.arrival, x.intent.TTFTDeadline)
}

func msUntil(from, to time.Time) int64 {
	if to.IsZero() {
		return 0
	}
	return to.Sub(from).Milliseconds()
}

// decision makes d what the verdict says.
func (x *exchange) decision(d *Decision) {
	v := &x.verdict
	*d = Decision{}
	d.Specialist, d.Adapter, d.routedBy, d.Rule, d.Cues = v.Specialist, v.Adapter, v.RoutedBy, v.Rule, v.Cues
	d.Second, d.SecondViable, d.Shadow, d.Demoted, d.Probe, d.intent = v.Second, v.SecondViable, v.Shadow, x.demoted,
		x.probe, v.Intent
	d.confidence, d.probabilities, d.among = v.Confidence, v.Probabilities, x.rt.Specialists
}

// recordRouting adds one specialist's passes through the pipeline, one for each step of the plan.
func (x *exchange) recordRouting(plan routing.Plan, err error, took time.Duration) {
	if x.sp.Planned != nil && !x.dry {
		x.sp.Planned(x.route, plan, err, took)
	}
	r := x.receipt
	r.Prompt.Tokens, r.Prompt.Exact, r.Prompt.Blocks = x.prompt.Tokens, x.prompt.Exact, len(x.prompt.Chain)
	x.routed += took
	r.note(x, plan, err)
}

// openAttempt records the start of a replica's turn, so long after the arrival.
func (x *exchange) openAttempt(step string, rep *Replica, host index.HostID, began time.Duration) *Attempt {
	x.predicted = x.predict(host)
	x.foretell()
	x.receipt.Attempts = append(x.receipt.Attempts, Attempt{})
	at := &x.receipt.Attempts[len(x.receipt.Attempts)-1]
	at.Specialist, at.Step, at.Replica, at.PredictedTokens, at.Ms = x.sp.Name, step, rep.Name, max(0, x.foretold),
		toMs(began)
	return at
}

// predict returns how many tokens of the prompt replica host is believed to serve from its cache.
func (x *exchange) predict(host index.HostID) int {
	return servable(x.sp.predicted(x.route.View(), host), x.prompt.Tokens, x.sp.BlockSize)
}

func (x *exchange) noteQueue(at *Attempt, waited time.Duration) {
	at.QueueMs += toMs(waited)
	x.queued += waited
}

func (x *exchange) closeAttempt(at *Attempt, err error) {
	if x.seen = x.turn.ended; x.seen == 0 {
		x.seen = x.since()
	}
	at.Ms = toMs(x.seen) - at.Ms
	at.Outcome = outcomeOK
	if err != nil {
		at.Outcome, at.Detail = outcomeOf(err), detail(err)
		x.s.metrics.AttemptFailed(x.sp.Name, at.Outcome)
	}
}

// outcomeOK is the outcome of an attempt that did not fail.
const outcomeOK = "ok"

// outcomeOf names how an attempt failed: a code of the contract, or what is nobody's failure.
func outcomeOf(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "client_gone"
	case errors.Is(err, routing.ErrNotTried) && !errors.Is(err, fleet.ErrBreakerOpen):
		return "not_tried"
	case errors.Is(err, errSlowClient):
		return "client_slow"
	}
	return string(asError(err).Code)
}

func toMs(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// noteCached holds what the engine says it had cached against what was thought.
func (x *exchange) noteCached(u sse.Usage) {
	if cached := x.cachedFor(u); cached >= 0 {
		x.turn.place.Cached(cached)
	}
	x.noteDelivered(u)
}

// cachedFor is what the engine says it had cached of the prompt, -1 where that says nothing of the replica's own cache,
// as of a prompt that was handed over.
func (x *exchange) cachedFor(u sse.Usage) int {
	if u.CachedKnown && x.base() == 0 && !x.turn.handed {
		return u.CachedTokens
	}
	return -1
}

// noteDelivered writes it down.
func (x *exchange) noteDelivered(u sse.Usage) {
	if x.cachedFor(u) >= 0 {
		x.turn.at.delivered = u.CachedTokens
		x.noteRatio(u)
		x.turn.at.DeliveredTokens = &x.turn.at.delivered
		x.notePredicted(u.CachedTokens)
	}
}

// observeFirstToken feeds the windows that the SLO headers are read from.
func (x *exchange) observeFirstToken(now time.Time) {
	ttft := now.Sub(x.arrival)
	x.ttft = ttft
	if !x.stream {
		return // a unary answer shows when it ended, not when it began
	}
	x.sp.Board.ObserveTTFT(now, ttft)
	if x.intent.Intent != "" {
		x.sp.Board.ObserveIntent(now, x.intent.Intent, ttft)
	}
	x.sp.Board.ObserveAdmission(now, now.Sub(x.arrival.Add(x.routed+x.turn.place.Waited())))
	x.sp.handles.FirstToken(ttft)
}

// close writes the end of the request into the receipt, the windows, the metrics and the log.
func (x *exchange) close() {
	total := x.moment()
	now := x.at(total)
	result := x.sumUp(total)
	x.s.metrics.Ended(x.counts(), x.intent.Intent, result.ending(total))
	x.s.logEnd(x, result)
	if x.receipt != nil {
		x.putAway()
	}
	if x.sp != nil && x.failure == nil {
		x.sp.Board.ObserveEndAt(now, x.preempted > 0)
		x.rememberConversation()
	}
	if x.charged > 0 || x.admitted {
		x.tenant.Settle(now, x.charged, x.cost())
	}
}

// counts are the metrics of the specialist that answered; nil if none was chosen.
func (x *exchange) counts() *metrics.Specialist {
	if x.sp == nil {
		return nil
	}
	return x.sp.handles
}

// ending is what metrics count of a request that took so long.
func (r *Result) ending(total time.Duration) *metrics.Ending {
	e := &metrics.Ending{Status: r.Status, Code: r.Code, PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens,
		Continued: r.Continued > 0, Done: r.Done, Total: total}
	if r.CachedTokens != nil {
		e.CachedTokens = *r.CachedTokens
	}
	return e
}

// putAway keeps the receipt.
func (x *exchange) putAway() {
	judged := x.toBeJudged()
	if judged != nil {
		x.receipt.verdicts = new(verdicts)
	}
	x.s.receipts.ring(x.tenant.Name).put(x.receipt)
	if judged != nil {
		x.haveJudged(judged)
	}
}

// sumUp returns what came of the request: the receipt's, where there is one.
func (x *exchange) sumUp(total time.Duration) *Result {
	r, cached := &x.result, &x.usage.CachedTokens
	if x.receipt != nil {
		r, cached = &x.receipt.Result, &x.receipt.cached
	}
	r.Status, r.Finish, r.Done, r.CompletionTokens = x.status, x.finish, x.failure == nil && !x.abort, x.handedOut
	r.PromptTokens, r.TTFTMs, r.TotalMs, r.RouteUs = x.usage.PromptTokens, toMs(x.ttft), toMs(total),
		float64(x.routed.Nanoseconds())/1e3
	r.Preempted, r.Continued = x.preempted, x.takeovers
	if x.sp != nil {
		r.Specialist = x.sp.Name
	}
	if x.usage.CachedKnown {
		*cached = x.usage.CachedTokens
		r.CachedTokens = cached
	}
	if x.failure != nil {
		r.Code = string(x.failure.Code)
	}
	return r
}
