package trace

import "time"

// Kind is which side of a call a span is.
type Kind uint8

// The kinds of spans.
const (
	Internal Kind = iota
	Server        // the call is answered here
	Client        // another process is called
)

// Span is a stretch of time of a request.
type Span struct {
	Context        // its trace, and its own id
	Parent  ID     // zero if it is the first of its trace
	Remote  bool   // Parent is of another process
	Name    string // of a closed set, but for models' names
	Kind    Kind
	Start   time.Time
	End     time.Time
	Attrs   []Attr
	Links   []Context
	Fault   string // what it failed with: a code of a closed list; "" if it did not
}

// Attr is an attribute of a span. Its value is a string, int64, float64, bool or []string.
type Attr struct {
	Key   string
	Value any
}

// Trace is the spans of one request, or of one shadow.
type Trace []Span

// Sink takes traces. Safe for concurrent use; it never waits.
type Sink interface {
	// Room reports whether a trace that is made now is taken. One that is not counts as dropped.
	Room() bool
	// Take takes a trace, or drops and counts it.
	Take(t Trace)
}

// Sent is what became of traces.
type Sent struct {
	Exported uint64
	Dropped  uint64 // more a second than are taken, or the queue was full
	Failed   uint64 // the receiver did not take them
}

// list is attributes while they are gathered. What says nothing is left out.
type list []Attr

func (l *list) text(key, value string) {
	if value != "" {
		*l = append(*l, Attr{key, value})
	}
}

func (l *list) number(key string, n int) {
	if n != 0 {
		*l = append(*l, Attr{key, int64(n)})
	}
}

func (l *list) flag(key string, on bool) {
	if on {
		*l = append(*l, Attr{key, true})
	}
}

func (l *list) float(key string, f float64) {
	if f != 0 {
		*l = append(*l, Attr{key, f})
	}
}
