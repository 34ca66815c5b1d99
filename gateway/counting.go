package gateway

import (
	"strconv"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// A stream is counted in tokens, as its engine tells with each event: growth at the Gate, quotas, the time between
// tokens and continuations all go by this one count. What was asked of the engine for it, and not by the client, does
// not reach the client.

// countEdits appends what makes an engine tell, in every event of its answer, how many tokens have come.
func (x *exchange) countEdits(rep *ensemble.Replica, edits []wire.Edit) []wire.Edit {
	if x.goesOnByIDs(rep) && x.req.Raw(idsMember) == nil {
		edits = append(edits, wire.Edit{Key: idsMember, Raw: []byte("true")})
	}
	switch rep.Kind.Streams.Counted {
	case engine.CountsUsage:
		if e, ok := x.req.RunningUsage(); ok {
			return append(edits, e)
		}
	case engine.CountsTimings:
		if x.req.Raw(timingsMember) == nil {
			return append(edits, wire.Edit{Key: timingsMember, Raw: []byte("true")})
		}
	}
	return edits
}

// timingsMember asks llama.cpp for timings in every event.
const timingsMember = "timings_per_token"

// scanning are the options with which the stream of the present engine is read.
func (x *exchange) scanning() sse.Options {
	o := x.overheard(x.continuing())
	counted, options := x.turn.rep.Kind.Streams.Counted, &x.req.StreamOptions
	asked := options.IncludeUsage && options.ContinuousUsage
	o.Told = counted != engine.CountsNothing
	o.HideUsage = counted == engine.CountsUsage && !asked
	o.HideLast = !options.IncludeUsage || x.base() > 0
	o.HideTotals = counted == engine.CountsUsage && !options.IncludeUsage
	o.HideTimings = counted == engine.CountsTimings && x.req.Raw(timingsMember) == nil
	o.Choices = max(x.req.N, 1) * max(x.req.Prompts(), 1)
	o.Totals = options.IncludeUsage && x.req.Prompts() <= 1
	if x.goesOnByIDs(x.turn.rep) {
		o.IDs, o.HideIDs = x.cont.keepIDs, x.req.Raw(idsMember) == nil
		o.HidePrompt = o.HideIDs || x.base() > 0
	}
	if x.most > 0 {
		o.Most = max(x.most-x.base(), 1)
	}
	return o
}

// mostOutput bounds the tokens of each choice in answers to r. 0 is unbounded: a tool call's token may be several
// events, an echo is none of the answer's, and of several answers of which the best is chosen nothing tells which
// tokens are whose.
func mostOutput(r *wire.Request) int {
	if r.MaxTokens <= 0 || r.Tools || r.Echo || r.BestOf > 1 || r.Beam {
		return 0
	}
	return r.MaxTokens
}

// countKnown reports whether the tokens so far are known as exactly as a continuation needs: an answer without
// max_tokens can do with a count of events.
func (x *exchange) countKnown() bool { return x.maxTokens <= 0 || x.scanner.Told() }

// account makes the usage in a chunk of a later engine the request's: the prompt as it was first counted, and the
// completion as all engines brought it.
func (c *continuation) account(data []byte, v *chunkView) {
	prompt, known := numberAt(data, v.prompt)
	if known {
		prompt = c.promptOf(prompt)
		v.prompt.with = strconv.AppendInt(nil, int64(prompt), 10)
	}
	completion, ok := numberAt(data, v.completion)
	if ok {
		completion += c.base
		v.completion.with = strconv.AppendInt(nil, int64(completion), 10)
	}
	if ok && known {
		v.total.with = strconv.AppendInt(nil, int64(prompt+completion), 10)
	}
	if cached, ok := numberAt(data, v.cached); ok && known {
		v.cached.with = strconv.AppendInt(nil, int64(min(cached, prompt)), 10)
	}
}

// promptOf is the request's prompt in tokens, where a later engine counts so many, some of which are the answer's.
func (c *continuation) promptOf(later int) int {
	if c.prompt > 0 {
		return c.prompt
	}
	return max(0, later-c.base)
}

func numberAt(data []byte, k cut) (n int, ok bool) {
	n, err := strconv.Atoi(string(data[k.from:k.to]))
	return n, err == nil
}

// whole is the usage of the whole answer, of which u is the last engine's part.
func (x *exchange) whole(u sse.Usage) sse.Usage {
	if n := x.base(); n > 0 {
		u.PromptTokens = x.cont.promptOf(u.PromptTokens)
		u.CompletionTokens += n
		u.CachedTokens = min(u.CachedTokens, u.PromptTokens)
	}
	return u
}
