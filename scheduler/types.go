package scheduler

import (
	"errors"
	"fmt"
	"time"

	"octet/kvpool"
)

// Time is a moment as the time since an origin that the caller chose; virtual in simulations.
type Time = time.Duration

// Request is what a Core schedules.
type Request struct {
	ID       uint64           // unique among live requests
	Tokens   []uint32         // prompt; the scheduler's from Add on
	Root     kvpool.BlockHash // chain root: specialist, adapter and salt are in it
	Adapter  string
	Salt     string
	Tenant   string
	Priority int  // larger is more urgent
	Arrival  Time // kept over preemptions
	Deadline Time // 0 is none
	MaxNew   int  // tokens to generate at most; at least 1
	Draft    int  // speculative window, tokens; 0 is none
	Hybrid   bool // has recurrent state of CoreConfig.SSMStateBytes beside its keys and values
}

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
	Estimate   time.Duration // until admission when Waiting; 0 is unknown
	Reason     error         // one of the grains below when Refused
	RetryAfter time.Duration // 0 is unknown or pointless
	Offered    bool          // Refused only because the wait is long and the asker has somewhere else to go
}

// Sentinels. Every refusal is ErrRefused and one grain.
var (
	ErrRefused     = errors.New("scheduler: refused")
	ErrQueueFull   = errors.New("queue full")
	ErrKVExhausted = errors.New("kv blocks exhausted")
	ErrDeadline    = errors.New("deadline unachievable")
	ErrExceedsPool = errors.New("larger than the pool")
	ErrInvalid     = errors.New("scheduler: invalid request")
	ErrCancelled   = errors.New("scheduler: cancelled")
	ErrEngine      = errors.New("scheduler: engine failed")
	ErrClosed      = errors.New("scheduler: closed")
	ErrConfig      = errors.New("scheduler: impossible configuration")
)

// Refusal is an honest no: which bound, and when to come back.
type Refusal struct {
	Reason     error         // a grain
	RetryAfter time.Duration // 0 is unknown or pointless
	// between the places that come free after RetryAfter, for those who are sent away after this one; 0 is unknown
	Every   time.Duration
	Room    int // how many can wait
	Detail  string
	Offered bool // it may still wait here, but somewhere else may be sooner: ask again without GateRequest.Elsewhere
}

func (r *Refusal) Error() string { return fmt.Sprintf("%v: %v: %s", ErrRefused, r.Reason, r.Detail) }

// Is matches ErrRefused and the grain.
func (r *Refusal) Is(target error) bool { return target == ErrRefused || target == r.Reason }

// Mode is how an item of a batch runs; all share one surface.
type Mode uint8

// Dispatch modes.
const (
	Prefill Mode = iota
	Decode
	SpecVerify
)

// String returns the name used on the wire.
func (m Mode) String() string { return [...]string{"prefill", "decode", "spec_verify"}[m] }

// Item is one request's part of a step.
type Item struct {
	ID   uint64
	Mode Mode
	// SpecVerify: tokens the engine may propose and verify after Tokens; Table has room for them
	Draft   int
	Start   int              // position of Tokens[0] in the sequence
	Tokens  []uint32         // to compute in this step; read-only, valid until Commit
	Samples bool             // the last position yields a token (false for all but the last chunk of a prefill)
	Table   []kvpool.BlockID // block table up to and including this step; read-only, valid until Commit
	Cached  int              // prompt tokens that were found in the prefix cache
	Batched int              // generated so far
	Adapter string           // of this request
	// first copy back what Snapshot took: the state, and keys and values up to Start into Table
	Restore bool
}

// Batch is one step of the engine.
type Batch struct {
	Step    uint64
	Adapter string // of every item; "" where cross-adapter batches are on
	Items   []Item

	// Host memory, in the order in which an engine must do it, and before anything of Items is written. Valid until
	// Commit.
	Discards  []uint64   // copies that will not be wanted any more, known to the engine or not
	Snapshots []Snapshot // copies to take
}

// Result settles the item of the same position in the batch.
type Result struct {
	ID     uint64
	Tokens []uint32 // sampled: none for an unfinished prefill, one for decode, up to Draft+1 for spec_verify
	Stop   bool     // the model ended the sequence with the last token
}

// Finish says why a request ended.
type Finish uint8

// Reasons.
const (
	NotFinished Finish = iota
	FinishStop
	FinishLength
)

// Output is one token of one request.
type Output struct {
	ID     uint64
	Index  int // 0 for the first generated token
	Token  uint32
	Finish Finish
	Cached int // prompt tokens served from the prefix cache
}

// BlockEvent says that a block came to, or left, the prefix cache.
type BlockEvent struct {
	Stored        bool // else removed
	Hash, Parent  kvpool.BlockHash
	IsRoot        bool     // Parent is a chain root, not a block
	Tokens        []uint32 // the block's own tokens; nil when removed
	Adapter, Salt string
}

// Stats is a consistent picture of one scheduler. Free + Used + Reserved == Total always.
type Stats struct {
	Total, Free, Used, Reserved int // blocks; Free includes cached blocks that nobody references
	Cached                      int // blocks in the prefix cache, referenced or not
	Waiting, Running            int // requests
	Preempting                  int // requests whose blocks were taken, or that are owed blocks
	Preemptions                 uint64
	Admitted, Finished          uint64
	CachedTokens, PromptTokens  uint64 // totals over admitted requests: hits / queries
	Snapshots, Restores         uint64 // copies of hybrid sequences to host memory and back; Loop and Core only
	HostBytes                   int64  // that these copies take
	// that the waiting prompts take, without those of preempted requests; Loop and Core only
	WaitingBytes int64
}
