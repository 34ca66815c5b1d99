package gate

import (
	"time"

	"octet/scheduler"
)

// Reckoning is the arithmetic behind the answer to a request, as of the moment of the answer. Without a modelled pool
// there are no blocks in it; without rates no times.
type Reckoning struct {
	Needed           int           // blocks to start; 0 too for a request that is larger than the pool
	Reused           int           // of these, blocks that it shares with the prefix cache
	Free             int           // blocks, before it
	Running, Waiting int           // sequences in the engine and requests in its queue, before it
	Uncached         int           // tokens to compute before the first one
	Waits            bool          // it was let wait
	Wait             time.Duration // foreseen until it starts; 0 is none or unknown
	// of the prompt, and of the tokens after the first, with what past estimates were wrong by; about 0 is unknown
	Prefill, Decode time.Duration
	Slack           time.Duration // left at the tightest deadline, negative if it is missed; without a deadline 0
}

// picture begins the reckoning of r: how things stand before it.
func (m *Model) picture(r *Request) {
	r.Reckoned = Reckoning{Free: m.engine.ledger.free(), Running: m.engine.roster.sequences,
		Waiting: m.waiting.backlog.Len()}
}

// reckon completes the reckoning of r, which shares so many blocks, and starts after wait or finds the engine so.
func (e *engine) reckon(r *Request, reuse int, f found, wait time.Duration, now scheduler.Time) {
	k := &r.Reckoned
	k.Reused, k.Wait, k.Uncached = reuse, wait, e.ledger.uncached(r, reuse)
	if e.ledger.pool != nil && !e.ledger.exceeds(r) {
		k.Needed = e.ledger.holds(r, 1)
	}
	k.Prefill, k.Decode = e.rates.promised(k.Uncached, f, wait), e.decode(r, k.Running)
	if !r.Deadline.IsZero() || !r.TTFTDeadline.IsZero() {
		k.Slack = e.left(r, wait+k.Prefill, k.Decode, now)
	}
}
