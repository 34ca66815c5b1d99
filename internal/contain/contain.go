// Package contain keeps a panic from ending more than what it struck: one connection, one stream, one event. What is
// contained is counted by where, for the process as a whole, and logged with its stack: it is a fault of ours, always.
package contain

import (
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// Place is what a panic ended.
type Place uint8

// The places.
const (
	Request    Place = iota // one request
	Connection              // one client's connection
	Watch                   // the report of one hang-up
	Stream                  // one stream that a loop carries, or one round of the loop
	Leg                     // one step's request beside another's
	Shadow                  // one shadow
	Consumer                // one event, or one round of what brings events
	Task                    // one round of what runs beside requests
	Places
)

// String returns the name of a place, as metrics have it.
func (p Place) String() string {
	return [Places]string{"request", "connection", "watch", "stream", "leg", "shadow", "consumer", "task"}[p]
}

var counts [Places]atomic.Uint64

// Count returns how many panics were contained at a place since the process began.
func Count(p Place) uint64 { return counts[p].Load() }

// Tally counts a panic that is logged elsewhere.
func Tally(p Place) { counts[p].Add(1) }

// Report counts and logs a panic that was contained by one of the rooms of internal/http1, at a place that it names as
// here. One of a request is logged there.
func Report(where string, value any) {
	for p := range Places {
		if p.String() != where {
			continue
		}
		if p == Request {
			Tally(p)
			return
		}
		Note(p, value)
		return
	}
}

// Note counts and logs a panic that was recovered from.
func Note(p Place, value any, attrs ...any) {
	Tally(p)
	slog.Error("panic", append(attrs, "in", p.String(), "panic", value, "stack", string(debug.Stack()))...)
}

// End contains a panic of the function that defers it, and calls then, unless it is nil, if there was one. It must be
// deferred itself.
func End(p Place, then func()) {
	value := recover()
	if value == nil {
		return
	}
	Note(p, value)
	if then != nil {
		then()
	}
}

// Do calls f and contains its panic.
func Do(p Place, f func()) {
	defer End(p, nil)
	f()
}
