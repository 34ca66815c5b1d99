package trace

import (
	"math"
	"math/rand/v2"
)

// Tracer begins the traces of requests. It never changes; safe for concurrent use.
type Tracer struct {
	bound  uint64 // trace ids whose last 63 bits are below it are sampled
	follow bool
	sink   Sink
}

// New returns a Tracer that samples a share of the requests, and, if it is to follow, those that come with a trace
// context as that says.
func New(share float64, follow bool, sink Sink) *Tracer {
	bound := uint64(math.MaxInt64)
	if share < 1 {
		bound = uint64(max(share, 0) * (1 << 63))
	}
	return &Tracer{bound, follow, sink}
}

// Begin makes the zero Draft that of a request which begins. id is 32 hex digits at random: it is the trace's, unless
// the headers traceparent and tracestate, as they came, name one.
func (t *Tracer) Begin(d *Draft, id, traceparent, tracestate string) {
	d.tracer, d.Trace, d.turn = t, id, -1
	d.marks = d.room[:0]
	from, ok := Parse(traceparent, tracestate)
	if ok {
		d.Context, d.parent = from, from.Span
	}
	d.Span = newID()
	if !ok || !t.follow {
		d.sample(t.samples(d.Trace))
	}
}

// samples reports whether a trace is within the share: the same traces as OpenTelemetry's TraceIDRatioBased.
func (t *Tracer) samples(trace string) bool {
	low, _ := hex(trace[traceSize-16:])
	return low>>1 < t.bound || t.bound == math.MaxInt64
}

// newID returns the id of a new span, from the runtime's ChaCha8.
func newID() ID {
	for {
		if id := rand.Uint64(); id != 0 {
			return ID(id)
		}
	}
}
