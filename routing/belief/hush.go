package belief

import (
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// hushedPrompts is how many prompts that a replica does not hold must have been routed to it since its events told of
// a block last, with patience gone by since the first and half of them later than that, before the replica is hushed.
const hushedPrompts = 16

// hush is what a replica owes to its events: prompts that it was not known to hold were routed there, and no block was
// registered. Time alone proves nothing, for an idle engine says nothing; nor does a prompt alone, for its engine may
// hold it from before.
type hush struct {
	since   atomic.Int64 // when the first of them was routed, in unix nanoseconds; 0 while nothing is owed
	prompts atomic.Int64
	late    atomic.Int64 // of prompts, those that came when patience had gone by
	next    atomic.Int64 // before which no prompt is looked at: they are patience/hushedPrompts apart, for the cost
	hushed  atomic.Bool
}

// due returns true at most once in every span.
func (h *hush) due(now time.Time, every time.Duration) bool {
	next := h.next.Load()
	return now.UnixNano() >= next && h.next.CompareAndSwap(next, now.UnixNano()+int64(every))
}

// owe notes a prompt that the replica was not known to hold.
func (h *hush) owe(now time.Time, patience time.Duration) {
	since := h.since.Load()
	if since == 0 {
		h.since.CompareAndSwap(0, now.UnixNano())
		since = h.since.Load()
	}
	prompts := h.prompts.Add(1)
	if now.UnixNano()-since < int64(patience) {
		return
	}
	if h.late.Add(1) >= hushedPrompts/2 && prompts >= hushedPrompts {
		h.hushed.Store(true)
	}
}

// speak notes that a block was registered: nothing is owed any more.
func (h *hush) speak() {
	if h.since.Load() == 0 {
		return
	}
	h.prompts.Store(0)
	h.late.Store(0)
	h.since.Store(0)
	h.hushed.Store(false)
}

// Owe notes that a prompt was sent to a replica that has published. One whose last block the replica is known to hold
// owes nothing.
func (b *Beliefs) Owe(id index.HostID, chain []kvpool.BlockHash, now time.Time) {
	patience := b.Patience()
	chain = b.kept(id, chain)
	if len(chain) == 0 || patience <= 0 || !b.hushes[id].due(now, patience/hushedPrompts) || !b.Heard(id) {
		return
	}
	var out [index.MaxHosts]uint16
	if b.Index.Depths(chain, index.HostSet(id), &out); int(out[id]) < len(chain) {
		b.hushes[id].owe(now, patience)
	}
}

// overhear notes what a batch registers.
func (b *Beliefs) overhear(batch *index.Batch) {
	for i := range batch.Ops {
		if batch.Ops[i].Kind == index.Store {
			b.hushes[batch.Host].speak()
			return
		}
	}
}

// Hushed returns the replicas that have published, and register nothing of what is routed there any more. It ends with
// the first block that they register.
func (b *Beliefs) Hushed() (all index.HostBitmap) {
	for id := range b.hushes {
		if b.hushes[id].hushed.Load() {
			all.Set(index.HostID(id))
		}
	}
	return all
}
