package intake

import (
	"slices"
	"strings"

	"octet/engine"
)

// The headers of W3C's trace context, which every engine is sent.
const (
	traceParent = "Traceparent"
	traceState  = "Tracestate"
)

// TraceContext returns the client's trace context as it came, and has engines be sent another than that: the caller's.
// It returns "" if there is none, or more than one. It is called before ReadHead.
func (q *Request) TraceContext() (parent, state string) {
	q.traced = true
	h, parents := &q.headers, 0
	var states []string
	for _, o := range h.forwarded {
		switch {
		case h.endsHere(o.name):
		case o.name == traceParent:
			parents += len(o.values)
			parent = o.values[0]
		case o.name == traceState:
			states = append(states, o.values...)
		}
	}
	if parents != 1 {
		return "", ""
	}
	return parent, strings.Join(states, ",")
}

// Forwarded returns the fields of the request's head that engines are sent as they came.
func (q *Request) Forwarded() []engine.Field { return q.forwarded }

// forwardedOf returns the fields that engines are sent, in memory of their own: they outlive the head. Two values of
// Traceparent name no trace, and a Tracestate alone says nothing. traced says that engines are sent a trace context of
// the gateway's.
func forwardedOf(h *headers, traced bool) (fields []engine.Field) {
	if len(h.forwarded) == 0 {
		return nil
	}
	parents := 0
	for _, o := range h.forwarded {
		if o.name == traceParent {
			parents += len(o.values)
		}
	}
	for _, o := range h.forwarded {
		traces := o.name == traceParent || o.name == traceState
		if traces && (traced || parents != 1) || h.endsHere(o.name) {
			continue
		}
		for _, value := range o.values {
			if value != "" && !strings.ContainsFunc(value, isControl) {
				fields = append(fields, engine.Field{Name: o.name, Value: strings.Clone(value)})
			}
		}
	}
	return fields
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// endsHere reports whether the client says that a header is for this connection alone.
func (h *headers) endsHere(name string) bool {
	return slices.ContainsFunc(h.hops, func(value string) bool {
		for word := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(word), name) {
				return true
			}
		}
		return false
	})
}
