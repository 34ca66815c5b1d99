package routing

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoCandidate is what every *NoCandidateError is.
var ErrNoCandidate = errors.New("routing: no candidate")

// ErrUnknownReplica is a caller's wish for a replica that is not among the candidates.
var ErrUnknownReplica = errors.New("routing: no such replica")

// ErrUnnamedReplica is the ErrUnknownReplica of a caller that names none, where one has to be named.
var ErrUnnamedReplica = fmt.Errorf("%w: none was named", ErrUnknownReplica)

// NoCandidateError names the filter that removed the last candidates.
type NoCandidateError struct {
	Filter  string    // the plugin that left none; "" when there was none to begin with
	Verdict Verdict   // what that means, as the plugin says
	Removed int       // how many it removed
	Before  []Removal // the plugins before it that removed any, in order
	Why     error     // what the plugin itself says of it; may be nil
}

// Verdict is what it means for a request that a filter has left no candidate.
type Verdict uint8

// The verdicts of filters.
const (
	Unavailable Verdict = iota // no replica that fits can be used: what a filter means that is no Judge
	BreakerOpen                // those that fit have failed too often of late
	Overloaded                 // those that fit have no room now
)

// Removal is what one plugin took out.
type Removal struct {
	Plugin  string
	Removed int
}

// Error names the plugin that left none first.
func (e *NoCandidateError) Error() string {
	if e.Filter == "" {
		return ErrNoCandidate.Error() + ": none was given"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s removed the last %d", ErrNoCandidate, e.Filter, e.Removed)
	for _, r := range e.Before {
		fmt.Fprintf(&b, ", %s %d before", r.Plugin, r.Removed)
	}
	if e.Why != nil {
		fmt.Fprintf(&b, ": %v", e.Why)
	}
	return b.String()
}

// Unwrap returns ErrNoCandidate and, where the plugin said why, that.
func (e *NoCandidateError) Unwrap() []error {
	if e.Why == nil {
		return []error{ErrNoCandidate}
	}
	return []error{ErrNoCandidate, e.Why}
}

// PrepareError says which Preparer could not do its work.
type PrepareError struct {
	Plugin string
	Err    error
}

func (e *PrepareError) Error() string { return fmt.Sprintf("routing: %s: %v", e.Plugin, e.Err) }

// Unwrap returns the Preparer's own error.
func (e *PrepareError) Unwrap() error { return e.Err }

// PluginPanicError is a bug in a plugin, kept to the request that met it.
type PluginPanicError struct {
	Plugin string
	Value  any    // what it panicked with
	Stack  []byte // of the goroutine, for people
}

func (e *PluginPanicError) Error() string {
	return fmt.Sprintf("routing: %s panicked: %v", e.Plugin, e.Value)
}
