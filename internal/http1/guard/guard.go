// Package guard keeps a panic from ending more than what it struck: one connection, one stream, one report.
package guard

import (
	"log/slog"
	"runtime/debug"
)

// Where a panic was contained.
const (
	Request    = "request"    // a handler; the server logs it
	Connection = "connection" // a client's connection
	Watch      = "watch"      // the report of one hang-up
	Stream     = "stream"     // one stream on a poll loop, or one round of the loop
)

// Report is told of each panic that was contained, while debug.Stack still shows where it was. Nil logs it.
type Report func(where string, value any)

// Tell reports a panic that was recovered from.
func (r Report) Tell(where string, value any) {
	if r == nil {
		slog.Error("panic", "in", where, "panic", value, "stack", string(debug.Stack()))
		return
	}
	r(where, value)
}

// End contains a panic of the function that defers it, and calls then, unless it is nil, if there was one. It must be
// deferred itself.
func (r Report) End(where string, then func()) {
	value := recover()
	if value == nil {
		return
	}
	r.Tell(where, value)
	if then != nil {
		then()
	}
}

// Do calls f and contains its panic.
func (r Report) Do(where string, f func()) {
	defer r.End(where, nil)
	f()
}
