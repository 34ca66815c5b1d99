package cmd

import (
	"io"
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/events"
	"octet/routing/index"
)

// beliefs is what the gateway takes replicas to hold: what their events say, and what was routed there since or
// instead.
type beliefs struct {
	index  index.Indexer
	approx *approx.Index
	now    func() time.Time
	ttl    time.Duration // of what was routed to replicas with events

	cleared func(index.HostID)            // told when a replica's cache is empty; set before the first batch
	epochs  [index.MaxHosts]atomic.Uint64 // of the last batches, and one; 0 is none yet

	told atomic.Pointer[index.HostBitmap] // replicas whose events were heard, in their present slots
	// replicas whose sources are unreachable for too long, or whose events do not fit
	silent atomic.Pointer[index.HostBitmap]
	differ *atomic.Pointer[index.HostBitmap] // replicas whose engine tokenizes otherwise than we do
	salts  atomic.Pointer[index.HostBitmap]  // replicas whose events leave open whose prompts they tell of
}

func newBeliefs(x index.Indexer, a *approx.Index, ttl time.Duration,
	differ *atomic.Pointer[index.HostBitmap]) *beliefs {
	b := &beliefs{index: x, approx: a, ttl: ttl, now: time.Now, differ: differ}
	b.cleared = func(index.HostID) {}
	b.told.Store(&index.HostBitmap{})
	b.silent.Store(&index.HostBitmap{})
	b.salts.Store(&index.HostBitmap{})
	return b
}

// Apply implements events.Applier.
func (b *beliefs) Apply(batch index.Batch) index.Outcome {
	out := b.index.Apply(batch)
	if out == index.Applied || out == index.Gap {
		b.hear(batch.Host)
		b.settle(batch)
		b.heedClear(batch)
	}
	return out
}

// heedClear tells of a cache that is empty: its engine says so, or is in another life.
func (b *beliefs) heedClear(batch index.Batch) {
	last := b.epochs[batch.Host].Swap(batch.Epoch + 1)
	empty := last != 0 && last != batch.Epoch+1
	for i := range batch.Ops {
		k := batch.Ops[i].Kind
		empty = empty || k == index.Clear || k == index.Shutdown
	}
	if empty {
		b.cleared(batch.Host)
	}
}

// settle has what is known end what was guessed. Events that say no salt do not: only that a cache is empty is true of
// all salts.
func (b *beliefs) settle(batch index.Batch) {
	if !b.salts.Load().Has(batch.Host) {
		b.approx.Heard(batch)
		return
	}
	for i := range batch.Ops {
		if k := batch.Ops[i].Kind; k == index.Clear || k == index.Shutdown {
			b.approx.Forget(batch.Host)
		}
	}
}

// Resync implements events.Applier.
func (b *beliefs) Resync(id index.HostID, epoch, seq uint64, held []index.TierBlocks) index.Outcome {
	out := b.index.Resync(id, epoch, seq, held)
	if out == index.Applied {
		b.hear(id)
		b.approx.Forget(id)
	}
	return out
}

// hear notes that a replica publishes: what is routed there need only count until its events tell.
func (b *beliefs) hear(id index.HostID) {
	for {
		old := b.told.Load()
		if old.Has(id) {
			return
		}
		fresh := *old
		fresh.Set(id)
		if b.told.CompareAndSwap(old, &fresh) {
			if !b.salts.Load().Has(id) {
				b.approx.Last(id, b.ttl)
			}
			return
		}
	}
}

// begin gives a slot to a replica of which nothing is known.
func (b *beliefs) begin(id index.HostID, ttl time.Duration, blocks int) {
	for {
		old := b.told.Load()
		fresh := *old
		fresh.Clear(id)
		if b.told.CompareAndSwap(old, &fresh) {
			break
		}
	}
	b.epochs[id].Store(0)
	b.approx.Forget(id)
	b.approx.Last(id, ttl)
	b.approx.Bound(id, blocks)
}

// held returns how many leading blocks of chain one replica is taken to hold.
func (b *beliefs) held(chain []kvpool.BlockHash, id index.HostID) int {
	var out [index.MaxHosts]uint16
	b.Depths(chain, index.HostSet(id), &out)
	return int(out[id])
}

// Stale implements events.Applier and plugins.Index: replicas that are judged by their load.
func (b *beliefs) Stale() index.HostBitmap { return b.index.Stale() }

// Depths implements plugins.Index: what is known, and from there on what is guessed. Of replicas that have fallen
// silent, or whose tokens are not ours, all is guessed.
func (b *beliefs) Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16) {
	b.DepthsAt(chain, among, b.now(), out)
}

// DepthsAt implements plugins.Guesser.
func (b *beliefs) DepthsAt(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time,
	out *[index.MaxHosts]uint16) {
	if told := b.told.Load(); !told.Empty() {
		if known := among.And(*told).AndNot(b.guessed()); !known.Empty() {
			b.index.Depths(chain, known, out) // 0 for all others
			b.approx.Extend(chain, among, now, out)
			return
		}
	}
	b.approx.Depths(chain, among, now, out)
}

// guessed are the replicas whose events say nothing of our chains.
func (b *beliefs) guessed() index.HostBitmap {
	return b.silent.Load().Or(*b.differ.Load()).Or(*b.salts.Load())
}

// doubt says of which replicas the events leave open whose blocks they tell of.
func (b *beliefs) doubt(hosts index.HostBitmap) { b.salts.Store(&hosts) }

// Routed notes where a prompt was sent.
func (b *beliefs) Routed(id index.HostID, chain []kvpool.BlockHash) { b.routedAt(id, chain, b.now()) }

func (b *beliefs) routedAt(id index.HostID, chain []kvpool.BlockHash, now time.Time) {
	b.approx.Routed(id, chain, now)
}

// What a replica is scored by.
const (
	trustExact       = "exact"
	trustApproximate = "approximate"
	trustLoad        = "load"
)

func (b *beliefs) trust(id index.HostID) string {
	switch {
	case b.index.Stale().Has(id):
		return trustLoad
	case b.told.Load().Has(id) && !b.guessed().Has(id):
		return trustExact
	case b.approx.Held(id) > 0:
		return trustApproximate
	}
	return trustLoad
}

// knowledge is what the admin listener shows of all this.
type knowledge struct{ *house }

// Trust implements gateway.Knowledge.
func (k knowledge) Trust(id index.HostID) string { return k.beliefs.trust(id) }

// RefusedEvents implements gateway.Knowledge.
func (k knowledge) RefusedEvents(replica string) uint64 { return k.feed.RefusedEvents(replica) }

// Save implements gateway.Knowledge.
func (k knowledge) Save(w io.Writer) error { return k.feed.Save(w) }

// Sources implements gateway.Knowledge.
func (k knowledge) Sources() map[string]any {
	all := map[string]any{}
	for name, st := range k.sourceStats() {
		all[name] = sourceView(st)
	}
	st := k.feed.Stats()
	all["feed"] = map[string]any{
		"batches": st.Batches, "applied": st.Applied, "duplicates": st.Duplicates, "old_epochs": st.OldEpochs,
		"gaps": st.Gaps, "resyncs": st.Resyncs,
		"unknown": st.Unknown, "foreign": st.Foreign, "invalid": st.Invalid, "refused_events": st.RefusedEvents,
		"orphans": st.Orphans, "unmappable": st.Unmappable, "conflicts": st.Conflicts, "verified": st.Verified,
		"mismatched": st.Mismatched,
		"voices":     k.feed.Publishers(), "held": st.Held, "waiting_bytes": st.Waiting, "crowded": st.Crowded,
		"blocks": st.Blocks, "full": st.Full, "lag_ms": st.Lag.Milliseconds(),
	}
	return all
}

func sourceView(st events.ConsumerStats) map[string]any {
	return map[string]any{
		"connected": st.Connected, "messages": st.Messages, "bad": st.Bad, "refused": st.Refused,
		"failures": st.Failures, "reconnects": st.Reconnects,
		"rewinds": st.Rewinds, "dropped": st.Dropped, "replayed": st.Replayed, "panics": st.Panics,
		"lag_ms": st.Lag.Milliseconds(),
	}
}

// cleared has the Gate of a replica forget what its engine's cache has lost.
func (h *house) cleared(id index.HostID) {
	if h.server == nil {
		return
	}
	if rep := h.server.Runtime().Replicas[id]; rep != nil && rep.Gate != nil {
		rep.Gate.Cleared()
	}
}
