package gate

import (
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// Lease is one request's hold on the engine, as the Model knows it: sequences, blocks, and how far its answer is. The
// zero Lease is ready to be asked for; after its end it is never used again.
type Lease struct {
	id        string     // of its request, while it runs
	rank      queue.Rank // its priority is what age had made of it when it started
	tenant    string
	adapter   string // "" is the model itself
	shape     shape
	maxNew    int            // tokens of a sequence; 0 is not stated
	deadline  scheduler.Time // maxTime means never
	whole     bool           // its answer comes at once
	waited    time.Duration
	admitted  scheduler.Time
	paid      int     // what its tenant was charged for it at the start
	counted   int     // and by all gateways, see Shares
	generated int     // tokens of all sequences, those of Request.Resume included
	resumed   int     // Request.Resume
	watcher   Watcher // told by the driver of the Model; may be nil

	holding
	progress
	standing
}

// holding is a lease's blocks: the ledger alone changes it.
type holding struct {
	table      *kvpool.Table      // nil without a pool, and after the end
	chain      []kvpool.BlockHash // of the prompt: what others may share. A copy in the ledger's own memory
	reused     int                // blocks of the prompt that were in the prefix cache
	uncached   int                // tokens of the prompt and of Request.Resume that were not
	computed   int                // tokens of the first prompt, and behind it, that the engine holds by now
	filled     int                // blocks that are computed, of all sequences
	step       int                // tokens that one step may add to a sequence: 1, and the draft where it is speculated
	overcommit int                // blocks that it should hold and does not
	outdated   bool               // the engine's cache was cleared while it ran
}

// progress is when a lease's tokens came: the rates alone change it.
type progress struct {
	found
	expected scheduler.Time // from the admission to the first token, as estimated then; 0 is unknown
	first    scheduler.Time // when the first token came; 0 before
	reported scheduler.Time // when generated was last reported
	atFirst  int            // generated with the first token; 0 before
	company  float64        // the roster's occupancy when generated was last reported
	estimate float64        // the pace that was estimated at the first token, in ns a token
}

// standing is a lease's place among the running: the roster alone changes it.
type standing struct {
	index        int // in roster.leases
	preemptible  bool
	yielding     bool   // it was told to give way
	prefilling   bool   // uncached counts in roster.prefilling
	earlier      *Lease // in roster.awaited; nil at its ends and outside
	later        *Lease
	imaginedGone bool // while the Model tries what its end would do
	released     bool
}

const maxTime = scheduler.Time(1<<63 - 1)

// victim reports whether l may be told to give way.
func (l *Lease) victim() bool { return l.preemptible && !l.yielding }

// ahead returns the blocks held beyond what is computed; none while overcommitted.
func (l *Lease) ahead() int { return max(0, l.table.Len()-l.filled) }

// Reused returns how many blocks of the prompt were found in the prefix cache.
func (l *Lease) Reused() int { return l.reused }

// Waited returns the time in the queue.
func (l *Lease) Waited() time.Duration { return l.waited }

// Yielding reports whether l was told to give way.
func (l *Lease) Yielding() bool { return l.yielding }
