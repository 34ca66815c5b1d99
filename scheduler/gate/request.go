package gate

import (
	"fmt"
	"time"

	"octet/kvpool"
)

// Config sizes a Gate after the engine behind it.
type Config struct {
	Blocks     int              // of the engine's pool; 0 is unknown: only running requests are counted then
	BlockSize  int              // tokens a block; ignored when Blocks is 0
	MaxRunning int              // sequences in the engine at once; a request of more runs alone
	MaxWaiting int              // requests in the queue; 0 lets none wait
	MaxWait    time.Duration    // in the queue; 0 is as long as contexts and deadlines allow
	Now        func() time.Time // required by a Gate
	Jitter     func() float64   // in [0,1): spreads Retry-After; nil spreads nothing

	Weights func(tenant string) int // of the tenants' shares within a priority; nil or below 1 is 1

	// Shares is what tenants have had at all gateways; nil if this one is alone.
	Shares Shares

	// Aging lifts a waiting request by one priority for each such time, to AgingCeiling at most; 0 is no aging. So from
	// its arrival + (AgingCeiling - priority) × Aging on, a request is behind no later one of its tenant with a
	// priority up to AgingCeiling, and behind other tenants' for no more than their shares. It preempts no other by
	// that, but once it runs it gives way only to requests that are more urgent than that.
	Aging        time.Duration
	AgingCeiling int

	// Promised returns how many requests are expected back that were refused with a time and are at least as urgent as
	// priority; nil if that is not known. While there are any, the last part of the queue is reserved for them: a
	// quarter at most. It is called under the Gate's lock.
	Promised func(priority int, now time.Time) float64

	// Redo bounds what preemption has the engine compute again, to a share of its time; 0 is no bound. Beyond it a more
	// urgent request waits for the next place that comes free by itself, unless that would be too late for its
	// deadline.
	Redo float64

	Adapters AdapterBounds // how the waiting are grouped by adapter; the zero value does not group them
}

// possible reports whether the bounds, which may change, are possible.
func (c *Config) possible() bool {
	return c.MaxRunning >= 1 && c.MaxWaiting >= 0 && c.MaxWait >= 0 && c.Aging >= 0 && c.Redo >= 0 && c.Redo <= 1 &&
		c.Adapters.Overtakes >= 0 && c.Adapters.AtOnce >= 0
}

// Request is what a Gate must know to admit.
type Request struct {
	ID           string             // for messages
	Priority     int                // larger is more urgent
	Chain        []kvpool.BlockHash // read while it is asked only: the Gate keeps a copy
	PromptTokens int                // of the first prompt
	// tokens at the beginning of the first prompt that the engine is known to hold, whichever gateway's prompts brought
	// them: its cache events tell. They are not computed again, though the Gate's own pool may not know them; 0 is not
	// known
	Held         int
	Further      Further   // the further prompts of a list
	N            int       // sequences that are generated from each prompt; 0 is one
	MaxNew       int       // tokens of a sequence at most, those of Resume included; 0 is not stated
	Deadline     time.Time // of the whole answer; zero means none
	TTFTDeadline time.Time // of the first token; zero means none
	Adapter      string    // its group among the waiting, see AdapterBounds; "" is the model itself
	Tenant       string
	// speculative window, tokens; 0 means no speculation. Without room for all of it one token a step is reserved
	Draft     int
	OfferBack bool // another specialist may answer it: a long wait is offered back as a Refusal that is Offered
	// another specialist keeps it waiting for so long: as long a wait is refused as well; 0 is no bound
	Sooner time.Duration
	Resume int  // tokens already generated, replayed behind the prompt
	Victim bool // may be preempted
	// neither waits nor preempts: it starts at once or is refused, and then does not count as offered
	AtOnce  bool
	Whole   bool      // its answer comes at once: the end of its prefill will not be reported
	Arrived time.Time // its place among equals; zero is now. A resumed request brings its first one
	Returns bool      // it was refused, and comes back in the time that it was told
	Paid    bool      // it ran before: its tenant's share has paid for it
	Watcher Watcher   // told like the one of Ticket.Watch, from the first moment on; may be nil
	Now     time.Time // what the Gate's clock says, if the caller has looked; zero has the Gate look

	Reckoned Reckoning // set by Ask
}

// Watcher is told that a ticket has to give way.
type Watcher interface{ Preempted() }

// check panics on counts that no request has: wherever they come from, they were checked before.
func (r *Request) check() {
	o := &r.Further
	if min(r.PromptTokens, r.Held, r.MaxNew, r.Resume, r.Draft, r.N, o.Prompts, o.Tokens, o.Blocks, o.Tail) < 0 {
		panic(fmt.Sprintf("scheduler: %s of %d prompt, %d new, %d resumed and %d drafted tokens, %d sequences each, "+
			"and %+v", r.ID, r.PromptTokens, r.MaxNew, r.Resume, r.Draft, r.N, *o))
	}
}
