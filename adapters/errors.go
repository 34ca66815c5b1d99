package adapters

import (
	"errors"
	"fmt"
	"time"
)

// Why a claim is not granted.
var (
	ErrLoad     = errors.New("the engine did not load it")
	ErrNowhere  = errors.New("no replica can hold it")
	ErrCrowded  = errors.New("too many requests wait for it")
	ErrLate     = errors.New("it was not loaded in time")
	ErrReplaced = errors.New("another edition of it is in force")
	ErrGone     = errors.New("its replica is gone")
)

// What a load or an unload may end with, beside errors of the engine's.
var (
	// ErrUnsupported means that the engine cannot load adapters at run time.
	ErrUnsupported = errors.New("adapters: the engine does not load adapters")
	// ErrRefused means that the engine will not have this adapter, as others of its kind will not: there is nothing at
	// its path, or its rank is too high.
	ErrRefused = errors.New("adapters: the engine refuses the adapter")
	// ErrDied means that the engine was not well after it had been told to load an adapter: others may die of it too.
	ErrDied = errors.New("adapters: the engine was not well after the load")
	// ErrAway means that the engine cannot be connected to: it has not been told.
	ErrAway = errors.New("adapters: the engine cannot be connected to")
	// ErrUnlisted means that the engine says it has loaded an adapter, and does not list it.
	ErrUnlisted = errors.New("adapters: the engine does not list what it has loaded")
)

// Refusal is why a request cannot have its adapter, and when that may be different.
type Refusal struct {
	Adapter    string
	Reason     error // one of those above
	RetryAfter time.Duration
	Detail     string // what the engine said; may be ""
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return fmt.Sprintf("adapter %s: %v", r.Adapter, r.Reason)
	}
	return fmt.Sprintf("adapter %s: %v: %s", r.Adapter, r.Reason, r.Detail)
}

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Reason }
