package dispatch

import (
	"time"

	"octet/gateway/sse"
)

// Observer returns what the relay of the answer tells of it.
func (d *Dispatch) Observer() *Observer { return (*Observer)(d) }

// Observer implements stream.Observer.
type Observer Dispatch

// Head sends the head of the answer.
func (o *Observer) Head(now time.Time, length int) { o.Client.Head(o.turn.rep, now, length) }

// Answered says that the answer has its first token, which is what earlier steps were held for.
func (o *Observer) Answered() { o.steps.releaseHeld() }

// FirstToken feeds the windows that the SLO headers are read from.
func (o *Observer) FirstToken(now time.Time) {
	sp, r := o.Plan.Specialist, o.Request
	o.TTFT = now.Sub(r.Arrival)
	if !r.Stream {
		return // a unary answer shows when it ended, not when it began
	}
	sp.Board.ObserveTTFT(now, o.TTFT)
	if r.Intent.Intent != "" {
		sp.Board.ObserveIntent(now, r.Intent.Intent, o.TTFT)
	}
	sp.Board.ObserveAdmission(now, o.TTFT-o.Routed-o.turn.place.Waited())
	sp.Metrics.FirstToken(o.TTFT)
}

// Usage holds what the engine delivered from its cache against what was predicted, and learns how many of the engine's
// tokens an estimate is worth.
func (o *Observer) Usage(u sse.Usage) {
	d := (*Dispatch)(o)
	prompt, counts := &d.Plan.Prompt, d.Plan.Specialist.Metrics
	if !prompt.Exact && u.PromptTokens > 0 && prompt.Tokens > 0 && d.Relay.Prompts <= 1 && d.Relay.Cont.Base() == 0 {
		counts.Ratio.Note(prompt.Tokens, u.PromptTokens)
	}
	if d.Relay.Cont.Cached(u, d.turn.handed) < 0 {
		return
	}
	d.turn.at.Delivered(u.CachedTokens)
	o.teach(u.CachedTokens)
	counts.Predicted.Deliver(d.Cached, u.CachedTokens)
	if d.Cached > 0 {
		counts.Predicted.Note(d.Cached, u.CachedTokens)
		d.turn.rep.Accuracy.Note(d.Cached, u.CachedTokens)
	}
}

// teach tells what is known of the replica's cache how much of the prompt was in it.
func (o *Observer) teach(delivered int) {
	sp := o.Plan.Specialist
	if sp.Evidence == nil {
		return
	}
	known, all := o.known, o.foretold
	if !o.Plan.Prompt.Exact {
		known, all = sp.Metrics.Ratio.Tokens(known), sp.Metrics.Ratio.Tokens(all)
	}
	sp.Evidence.Delivered(o.turn.rep, known, all, delivered)
}
