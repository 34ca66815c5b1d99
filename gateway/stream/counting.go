package stream

import (
	"octet/engine"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// A stream is counted in tokens, as its engine tells with each event: growth at the Gate, quotas, the time between
// tokens and continuations all go by this one count. What the gateway asks an engine for to that end, and the client
// did not ask for, does not reach the client.

const (
	idsMember     = "return_token_ids"  // asks vLLM for the ids of the prompt and, with each event, of its tokens
	timingsMember = "timings_per_token" // asks llama.cpp for timings in every event
)

// Count appends what makes an engine of kind e tell, in every event of its answer to r, how many tokens have come.
func (c *Continuation) Count(edits []wire.Edit, r *wire.Request, kind wire.Kind, e *engine.Kind) []wire.Edit {
	if c.byIDs(r, kind, e) && r.Raw(idsMember) == nil {
		edits = append(edits, wire.Edit{Key: idsMember, Raw: []byte("true")})
	}
	switch e.Streams.Counted {
	case engine.CountsUsage:
		if edit, ok := r.RunningUsage(); ok {
			return append(edits, edit)
		}
	case engine.CountsTimings:
		if r.Raw(timingsMember) == nil {
			edits = append(edits, wire.Edit{Key: timingsMember, Raw: []byte("true")})
		}
	case engine.CountsNothing:
	}
	return edits
}

// AskUsage appends what makes an engine of kind e tell at the end of its answer to r what that took, and returns false
// if it need not be asked.
func AskUsage(edits []wire.Edit, r *wire.Request, e *engine.Kind) ([]wire.Edit, bool) {
	if e.Streams.Counted == engine.CountsUsage || !e.Streams.Usage {
		return edits, false
	}
	edit, ok := r.FinalUsage()
	if !ok {
		return edits, false
	}
	return append(edits, edit), true
}

// Scanning sets in o how the answer of an engine of kind e to r is read: what of it is counted, what the client gets of
// it, and after how many tokens of each choice it is cut; most 0 is never.
func (c *Continuation) Scanning(o *sse.Options, r *wire.Request, kind wire.Kind, e *engine.Kind, most int) {
	counted, options := e.Streams.Counted, &r.StreamOptions
	o.Told = counted != engine.CountsNothing
	o.HideUsage = counted == engine.CountsUsage && !(options.IncludeUsage && options.ContinuousUsage) ||
		e.Streams.Usage && !options.IncludeUsage
	o.NullUsage = options.IncludeUsage
	o.HideLast = !options.IncludeUsage || c.Base() > 0
	o.HideTotals = (counted == engine.CountsUsage || e.Streams.Usage) && !options.IncludeUsage
	o.HideTimings = counted == engine.CountsTimings && r.Raw(timingsMember) == nil
	o.Choices = max(r.N, 1) * max(r.Prompts(), 1)
	o.Totals = options.IncludeUsage && r.Prompts() <= 1
	if c.byIDs(r, kind, e) {
		o.IDs, o.HideIDs = c.keepIDs, r.Raw(idsMember) == nil
		o.HidePrompt = o.HideIDs || c.Base() > 0
	}
	if most > 0 {
		o.Most = max(most-c.Base(), 1)
	}
}

// MostOutput bounds the tokens of each choice in answers to r. 0 is unbounded: a tool call's token may be several
// events, an echo is not part of the answer, and of several answers of which the best is chosen nothing tells which
// tokens belong to which.
func MostOutput(r *wire.Request) int {
	if r.MaxTokens <= 0 || r.Tools || r.Echo || r.BestOf > 1 || r.Beam {
		return 0
	}
	return r.MaxTokens
}
