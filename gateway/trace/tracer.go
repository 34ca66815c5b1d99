package trace

import "math/rand/v2"

// Tracer begins the traces of requests. It never changes; safe for concurrent use.
type Tracer struct {
	all    bool
	bound  string // trace ids whose last 16 digits come before it are sampled, if not all are
	follow bool
	sink   Sink
}

// New returns a Tracer that samples a share of the requests, and, if it is to follow, those that come with a trace
// context as that says.
func New(share float64, follow bool, sink Sink) *Tracer {
	t := &Tracer{all: share >= 1, follow: follow, sink: sink}
	if !t.all {
		t.bound = ID(uint64(max(share, 0)*(1<<63)) << 1).String()
	}
	return t
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

// samples reports whether a trace is within the share: the same traces as OpenTelemetry's TraceIDRatioBased, which
// takes the last 8 bytes of an id without their lowest bit. Digits of one case compare as the numbers that they write.
func (t *Tracer) samples(trace string) bool { return t.all || trace[traceSize-16:] < t.bound }

// newID returns the id of a new span, from the runtime's ChaCha8.
func newID() ID {
	for {
		if id := rand.Uint64(); id != 0 {
			return ID(id)
		}
	}
}
