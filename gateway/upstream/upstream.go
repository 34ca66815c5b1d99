package upstream

import (
	"fmt"
	"net/http"
	"strconv"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/stream"
	"octet/gateway/wire"
)

// Prepare makes h a request to its replica, before its Protocol has seen it. The step, the replica and whose answer it
// is are set. cont is what the answer is continued from; nil if it begins with the prompt.
func Prepare(h *ensemble.Hop, r *intake.Request, adapter string, cont *stream.Continuation) {
	h.Step.Ranked = nil // in the memory of the routing, which ends before the step's attempts do
	h.Client, h.Kind, h.RequestID, h.Path, h.Stream = &r.Parsed, r.Kind, r.ID, r.Kind.Path(), r.Stream
	h.Edits = edits(h.Replica, r, adapter, h.NoEdits())
	h.Edits = cont.Edits(h.Edits, &r.Parsed, r.Kind)
	if !h.Last {
		return
	}
	if cont.Base() == 0 {
		h.Edits = intake.OneCount(&r.Parsed, h.Edits)
	}
	if h.Stream {
		h.Edits = cont.Count(h.Edits, &r.Parsed, r.Kind, &h.Replica.Kind)
		if !h.NoUsage && h.Replica.Usage.Load() != ensemble.UsageRefused {
			h.Edits, h.AsksUsage = stream.AskUsage(h.Edits, &r.Parsed, &h.Replica.Kind)
		}
	}
}

// edits appends the members of the body that must change for a replica.
func edits(rep *ensemble.Replica, r *intake.Request, adapter string, edits []wire.Edit) []wire.Edit {
	if model, quoted := rep.ModelName(adapter); r.Parsed.Model != model {
		edits = append(edits, wire.Edit{Key: "model", Raw: quoted})
	}
	edits = scaled(rep, adapter, edits)
	if priority := r.Intent.Priority; rep.ForwardPriority && priority != 0 {
		edits = append(edits, wire.Edit{Key: priorityKey,
			Raw: strconv.AppendInt(nil, int64(rep.Kind.Priority(priority)), 10)})
	}
	if n, ranked := rep.Rank.Number(); ranked && rep.Kind.Ranks.Member != "" {
		edits = append(edits, wire.Edit{Key: rep.Kind.Ranks.Member, Raw: strconv.AppendInt(nil, int64(n), 10)})
	}
	if p := r.Parsed.TopP; rep.Kind.TopPAboveZero && p.Set && p.Value == 0 {
		edits = append(edits, wire.Edit{Key: "top_p", Raw: leastTopP})
	}
	return r.Salted().Edits(rep, edits)
}

// scaled appends how much of which adapter the engine is to apply, where requests say so in the body. An engine that
// has not told the adapter's number gets one that it does not have, and refuses: an adapter is never dropped in
// silence.
func scaled(rep *ensemble.Replica, adapter string, edits []wire.Edit) []wire.Edit {
	if adapter == "" || !rep.Kind.ScalesAdapters() || rep.AdapterNumber == nil {
		return edits
	}
	number, known := rep.AdapterNumber(adapter)
	if !known {
		number = -1
	}
	return append(edits, wire.Edit{Key: "lora", Raw: fmt.Appendf(nil, `[{"id":%d,"scale":1}]`, number)})
}

// Members that not every door of an engine takes.
const (
	priorityKey = "priority"
	saltKey     = intake.SaltKey
)

// leastTopP stands for 0 where an engine takes only more than that: no second token is within it.
var leastTopP = []byte("1e-6")

// Segments appends the pieces of the body that h sends to dst. The client's own bytes are not copied.
func Segments(h *ensemble.Hop, r *intake.Request, dst [][]byte) ([][]byte, error) {
	switch {
	case h.Body != nil:
		return append(dst, h.Body), nil
	case h.Native:
		return r.Sent().Splice(h.Edits, dst), nil
	}
	return r.Parsed.Splice(h.Edits, dst)
}

// Trace has the engine of h told its part in a trace, by the W3C's headers. An empty parent tells nothing.
func Trace(h *ensemble.Hop, parent, state string) {
	if parent == "" {
		return
	}
	h.SetField("Traceparent", parent)
	if state != "" {
		h.SetField("Tracestate", state)
	}
}

// Fill makes q what the engine of h is asked, but for its time limits.
func Fill(q *engine.Request, h *ensemble.Hop, r *intake.Request, segments [][]byte) {
	for _, name := range r.Via() { // this gateway's own name is its client's to send
		h.AddField(engine.Via, name)
	}
	for _, f := range r.Forwarded() {
		h.AddField(f.Name, f.Value)
	}
	q.Method, q.Path, q.Segments, q.RequestID, q.Stream = http.MethodPost, h.Path, segments, r.ID, h.Stream
	q.Bearer, q.Fields = h.Replica.APIKey, h.Fields
}
