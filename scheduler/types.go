package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// Time is a moment as the time since an origin that the caller chose; virtual in simulations.
type Time = time.Duration

// Nanos returns ns as a Time that can still be added to, however large it is: 31 years at most.
func Nanos(ns float64) time.Duration { return time.Duration(min(ns, 1e18)) }

// State is an admission answer's kind.
type State uint8

// Admission answers.
const (
	Admitted State = iota
	Waiting
	Refused
)

// String returns the lower-case name.
func (s State) String() string { return [...]string{"admitted", "wait", "refused"}[s] }

// Answer is what passes between routing and scheduling.
type Answer struct {
	State      State
	Estimate   time.Duration // until admission, also where Refused; 0 is unknown
	Reason     error         // one of the grains below when Refused
	RetryAfter time.Duration // 0 is unknown or pointless
	Offered    bool          // Refused only because the wait is long, and the request can be answered elsewhere
}

// Sentinels. Every refusal is ErrRefused and one grain.
var (
	ErrRefused     = errors.New("scheduler: refused")
	ErrQueueFull   = errors.New("queue full")
	ErrKVExhausted = errors.New("kv blocks exhausted")
	ErrDeadline    = errors.New("deadline unachievable")
	// no replica serves, and the request was not held, or for as long as it may be
	ErrNoReplica   = errors.New("no replica serves")
	ErrExceedsPool = errors.New("larger than the pool")
	ErrInvalid     = errors.New("scheduler: invalid request")
	ErrCancelled   = errors.New("scheduler: cancelled")
	ErrEngine      = errors.New("scheduler: engine failed")
	ErrClosed      = errors.New("scheduler: closed")
	// ErrCorrupt is wrapped by what the Checks find, besides kvpool.ErrCorrupt.
	ErrCorrupt = errors.New("scheduler: corrupt")
	ErrConfig  = errors.New("scheduler: impossible configuration")
)

// Refusal says which bound refused a request, and when to come back.
type Refusal struct {
	Reason     error         // a grain
	RetryAfter time.Duration // 0 is unknown or pointless
	// between the places that come free after RetryAfter, for requests that are refused after this one; 0 is unknown
	Every  time.Duration
	Room   int           // how many can wait
	Wait   time.Duration // that is foreseen here; 0 is unknown
	Detail string
	// it may still wait here, but another specialist may be sooner: ask again without gate.Request.OfferBack
	Offered bool
}

func (r *Refusal) Error() string { return fmt.Sprintf("%v: %v: %s", ErrRefused, r.Reason, r.Detail) }

// Is matches ErrRefused and the grain.
func (r *Refusal) Is(target error) bool { return target == ErrRefused || target == r.Reason }

// Stats is a consistent picture of one scheduler. Free + Used + Reserved == Total always.
type Stats struct {
	Total, Free, Used, Reserved int // blocks; Free includes cached blocks without a reference
	Cached                      int // blocks in the prefix cache, referenced or not
	Waiting, Running            int // requests
	Preempting                  int // requests whose blocks were taken, or that are overcommitted
	Preemptions                 uint64
	Admitted, Finished          uint64
	CachedTokens, PromptTokens  uint64 // totals over admitted requests: hits / queries
	Snapshots, Restores         uint64 // copies of hybrid sequences to host memory and back; Loop and Core only
	HostBytes                   int64  // that these copies take
	// that the waiting prompts take, without those of preempted requests; Loop and Core only
	WaitingBytes int64
}
