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

// Forwarded returns the fields of the request's head that engines are sent as they came.
func (q *Request) Forwarded() []engine.Field { return q.forwarded }

// forwardedOf returns the fields that engines are sent, in memory of their own: they outlive the head. Two values of
// Traceparent name no trace, and a Tracestate alone says nothing.
func forwardedOf(h *headers) (fields []engine.Field) {
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
		if (o.name == traceParent || o.name == traceState) && parents != 1 || h.endsHere(o.name) {
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
