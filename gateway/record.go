package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"octet/gateway/dispatch"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/gateway/stream"
)

// record writes the end of the request into the receipt, the windows, the metrics and the log.
func (x *exchange) record() {
	total := x.Moment()
	now := x.At(total)
	result := x.receipt.End(resultOf(&x.answer, &x.dispatch, &x.relay, total))
	var counts *metrics.Specialist // nil if none was chosen
	sp := x.dispatch.Plan.Specialist
	if sp != nil {
		counts = sp.Metrics
	}
	if counts != nil && !x.dispatch.Admitted {
		counts.Offer(x.request.Intent.Priority)
	}
	x.endTrace(total)
	ending := measured(result, total)
	ending.Faulty = x.answer.faulty()
	x.s.metrics.Ended(counts, x.request.Intent.Intent, ending)
	if x.dispatch.Admitted {
		x.s.metrics.Spent(x.request.Tenant.Name, ending)
	}
	x.s.logEnd(x, result)
	if x.receipt.Opened() {
		x.s.live.Offer(x.request.Tenant.Name, x.receipt.Receipt())
		x.putAway()
	}
	if sp != nil {
		regret(sp.Metrics, x.receipt.Receipt(), sp.Name)
	}
	if end := deadlineOf(&x.request, &x.answer, x.dispatch.TTFT, now); sp != nil && end != noDeadline {
		sp.Board.ObserveDeadline(now, end == deadlineMissed)
		sp.Metrics.Deadline(x.request.Intent.Priority, end == deadlineMissed)
	}
	if sp != nil && x.answer.failure == nil {
		sp.Board.ObserveEnd(now, x.dispatch.Preempted > 0)
		if !x.answer.abort {
			x.s.decider.Conversations.Remember(&x.decision, sp.Name, x.dispatch.Plan.Prompt.Tokens+x.relay.Delivered())
		}
	}
	if x.holding.charged > 0 || x.dispatch.Admitted {
		cost := costOf(&x.dispatch, &x.relay)
		x.request.Tenant.Settle(now, x.holding.taken, cost)
		x.request.Tenant.Spend(x.request.Arrival, now, x.holding.charged, cost)
	}
}

// regret counts what the picks of a specialist's replicas have to compute, and what of it others held.
func regret(counts *metrics.Specialist, r *receipt.Receipt, specialist string) {
	for i := range r.Routing {
		if at := &r.Routing[i]; at.Specialist == specialist && at.Hit.Replica != "" {
			counts.Regret(r.Prompt.Tokens-at.Hit.Chosen, at.Hit.Best-at.Hit.Chosen)
		}
	}
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

// putAway keeps the receipt, and offers a whole answer to the verifier, if it is to judge it. An answer that calls
// tools is a step on the way to one: the text beside the calls is no answer yet.
func (x *exchange) putAway() {
	ring, r, audit := x.s.receipts.Of(x.request.Tenant.Name), x.receipt.Receipt(), &x.s.audit
	ring.Put(r)
	if !x.answer.judged || !r.Result.Done || x.relay.Transcript.CallsTools() {
		return
	}
	if text, ok := x.relay.Transcript.Within(audit.Largest()); ok && len(text) > 0 {
		if kept, ok := ring.Find(r.ID); ok {
			audit.OnAnswer(x.rt, kept, string(text))
		}
	}
}

// resultOf returns what came of a request that took so long.
func resultOf(a *answer, d *dispatch.Dispatch, relay *stream.Relay, total time.Duration) receipt.Result {
	usage := relay.Usage()
	r := receipt.Result{
		Status: a.status, Finish: relay.Finish(), Done: a.failure == nil && !a.abort,
		PromptTokens: usage.PromptTokens, CompletionTokens: completed(relay),
		TTFTMs: receipt.Ms(d.TTFT), TotalMs: receipt.Ms(total), RouteUs: float64(d.Routed.Nanoseconds()) / 1e3,
		Continued: d.Continued, Preempted: d.Preempted,
	}
	held, woke := d.Held()
	r.HeldMs, r.Woke = receipt.Ms(held), woke
	if sp := d.Plan.Specialist; sp != nil {
		r.Specialist = sp.Name
	}
	if usage.CachedKnown {
		cached := usage.CachedTokens
		r.CachedTokens = &cached
	}
	if a.failure != nil {
		r.Code = string(a.failure.Code)
	}
	return r
}

// completed is the tokens of the answer: by the engine's usage, where it came, else those that were seen. An engine may
// put several in one event.
func completed(relay *stream.Relay) int {
	return max(relay.Usage().CompletionTokens, relay.Delivered())
}

// costOf is the tokens that a request took of its tenant's rate and budget: by the engine's usage, where it came, else
// as far as is known here. A request that no engine took up costs nothing.
func costOf(d *dispatch.Dispatch, relay *stream.Relay) int {
	usage := relay.Usage()
	switch {
	case !d.Taken:
		return 0
	case usage.PromptTokens > 0:
		return usage.PromptTokens + completed(relay)
	}
	return d.Plan.Prompt.Tokens + relay.Delivered()
}

// logEnd logs a request that has ended: a failure of ours, or of an answer that had begun, as a warning.
func (s *Server) logEnd(x *exchange, r *receipt.Result) {
	level := slog.LevelDebug
	if r.Status >= 500 || (r.Code != "" && x.relay.Begun() && r.Status == http.StatusOK) {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !s.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.request.ID), slog.Int("status", r.Status), slog.String("code", r.Code),
		slog.Float64("ms", r.TotalMs),
		slog.Int("tokens", r.CompletionTokens), slog.Int("attempts", x.dispatch.Attempts),
	}
	if id := x.receipt.ID(); id != x.request.ID && x.receipt.Opened() {
		attrs = append(attrs, slog.String("receipt", id)) // where it is not the request's, and a receipt is kept
	}
	if sp := x.dispatch.Plan.Specialist; sp != nil {
		attrs = append(attrs, slog.String("specialist", sp.Name),
			slog.String("routed_by", x.decision.RoutedBy.String()))
	}
	if t := x.trace; t != nil {
		attrs = append(attrs, slog.String("trace_id", t.Trace), slog.String("span_id", t.Span.String()))
	}
	if x.answer.failure != nil && x.answer.failure.Cause != nil {
		attrs = append(attrs, slog.String("cause", x.answer.failure.Cause.Error()))
	}
	s.log.LogAttrs(ctx, level, "request", attrs...)
}
