// Package belief holds what the gateway takes replicas' prefix caches to hold: what their cache events say, and what
// was routed there since or instead.
//
//	cache events ──Apply──▶ index.Indexer ──┐
//	                                        ├─ Depths: known, and from there on guessed ─▶ plugins
//	routed prompts ─Routed─▶ approx.Index ──┘
//
// Invariants:
//  1. Of a replica that is silent, that differs or that is doubted, all is guessed: its events tell nothing of our
//     chains.
//  2. Nothing that was believed of a slot's replica is believed of the next one: Begin comes before its first batch.
//  3. Of a replica that is partly known (batches of its life are missing), what was registered since is known, and what
//     was routed or known before is guessed, as long as of one without events. That ends with what ends the doubt:
//     an empty cache, a snapshot, a replay, or delivered hits nearly all of which were known. Hits bring it back, too.
package belief

import (
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/index"
)

// Config is what Beliefs are made of.
type Config struct {
	Index   index.Indexer
	Guesses *approx.Index
	TTL     time.Duration           // of a guess for a replica that publishes events
	Differ  func() index.HostBitmap // replicas whose engines tokenize otherwise than the gateway
	Cleared func(index.HostID)      // called when a replica's cache is empty
	// Patience is how long events of a routed prompt may take before their absence counts (Expect); zero means that it
	// never does.
	Patience func() time.Duration
}

// Beliefs are what is known and guessed of all replicas' caches. It implements events.Applier, plugins.Index,
// plugins.Guesser and plugins.Tiered.
type Beliefs struct {
	Config
	now func() time.Time

	epochs [index.MaxHosts]atomic.Uint64 // of the last batch, plus one; zero before the first

	expected [index.MaxHosts]expectations
	partial  [index.MaxHosts]partial
	hits     [index.MaxHosts]hits
	hushes   [index.MaxHosts]hush
	grains   [index.MaxHosts]grain
	coarse   index.CountedSet // replicas whose engines have larger blocks than the index
	denied   index.SharedSet  // partly known replicas of which most guesses do not come true

	heard    atomic.Pointer[index.HostBitmap] // replicas that have published since Begin
	silent   atomic.Pointer[index.HostBitmap] // replicas whose sources are unreachable, or whose events do not fit
	saltless atomic.Pointer[index.HostBitmap] // replicas whose events do not tell by which salt blocks are kept apart
}

// New returns beliefs of no replica yet.
func New(c Config) *Beliefs {
	b := &Beliefs{Config: c, now: time.Now}
	b.heard.Store(&index.HostBitmap{})
	b.silent.Store(&index.HostBitmap{})
	b.saltless.Store(&index.HostBitmap{})
	return b
}

// Begin gives a slot to a replica of which nothing is known: guesses for it last ttl, until it publishes, and are
// bounded by its pool of so many blocks.
func (b *Beliefs) Begin(id index.HostID, ttl time.Duration, blocks int) {
	for {
		old := b.heard.Load()
		fresh := *old
		fresh.Clear(id)
		if b.heard.CompareAndSwap(old, &fresh) {
			break
		}
	}
	b.epochs[id].Store(0)
	b.expected[id].renew()
	b.hushes[id].speak()
	b.grains[id].told.Store(0)
	b.grains[id].seen.Store(0)
	b.sort(id)
	b.partial[id].begin(ttl)
	b.hits[id].renew()
	b.denied.Clear(id)
	b.Guesses.Forget(id)
	b.Guesses.Last(id, ttl)
	b.Guesses.Bound(id, blocks)
}

// Apply implements events.Applier.
func (b *Beliefs) Apply(batch index.Batch) index.Outcome {
	b.demote(&batch)
	b.promote(&batch)
	out := b.Index.Apply(batch)
	if out == index.Applied || out == index.Gap {
		b.measure(&batch)
		b.markHeard(batch.Host)
		b.compare(&batch)
		b.overhear(&batch)
		b.dropGuesses(batch)
		b.tellCleared(batch)
	}
	return out
}

// Resync implements events.Applier.
func (b *Beliefs) Resync(id index.HostID, epoch, seq uint64, held []index.TierBlocks) index.Outcome {
	out := b.Index.Resync(id, epoch, seq, held)
	if out == index.Applied {
		b.partial[id].settle()
		b.markHeard(id)
		b.Guesses.Forget(id)
		b.epochs[id].Store(epoch + 1)
	}
	return out
}

// tellCleared reports a cache that is empty: its engine says so, or has restarted.
func (b *Beliefs) tellCleared(batch index.Batch) {
	empty := b.another(&batch) && !forgets(&batch) || emptied(&batch)
	b.epochs[batch.Host].Store(batch.Epoch + 1)
	if empty {
		b.Cleared(batch.Host)
	}
}

// another returns true if batch is the first of a later epoch than the last one was of.
func (b *Beliefs) another(batch *index.Batch) bool {
	last := b.epochs[batch.Host].Load()
	return last != 0 && last != batch.Epoch+1
}

// dropGuesses ends the guesses that a batch replaces by knowledge. A batch without salts replaces none: only that a
// cache is empty holds for all salts.
func (b *Beliefs) dropGuesses(batch index.Batch) {
	if !b.saltless.Load().Has(batch.Host) {
		b.hear(&batch)
		return
	}
	if emptied(&batch) {
		b.Guesses.Forget(batch.Host)
	}
}

func empties(k index.OpKind) bool { return k == index.Clear || k == index.Shutdown }

// markHeard notes that a replica publishes: a guess for it need only last until its events tell, unless they leave
// something open.
func (b *Beliefs) markHeard(id index.HostID) {
	b.follow(id, b.Index.Stale().Has(id))
	for {
		old := b.heard.Load()
		if old.Has(id) {
			return
		}
		fresh := *old
		fresh.Set(id)
		if b.heard.CompareAndSwap(old, &fresh) {
			return
		}
	}
}

// Silence sets the replicas whose events tell nothing now.
func (b *Beliefs) Silence(hosts index.HostBitmap) { b.silent.Store(&hosts) }

// Doubt sets the replicas whose events leave open which tenant's blocks they tell of.
func (b *Beliefs) Doubt(hosts index.HostBitmap) { b.saltless.Store(&hosts) }

// Heard returns true if the replica has published since Begin.
func (b *Beliefs) Heard(id index.HostID) bool { return b.heard.Load().Has(id) }

// Routed notes that a prompt was sent to a replica.
func (b *Beliefs) Routed(id index.HostID, chain []kvpool.BlockHash, now time.Time) {
	b.Guesses.Routed(id, b.kept(id, chain), now)
}

// Held returns the number of leading blocks of chain that one replica is believed to hold.
func (b *Beliefs) Held(chain []kvpool.BlockHash, id index.HostID) int {
	var out [index.MaxHosts]uint16
	b.Depths(chain, index.HostSet(id), &out)
	return int(out[id])
}

// Stale implements events.Applier and plugins.Index: replicas of which not all is known.
func (b *Beliefs) Stale() index.HostBitmap { return b.Index.Stale() }

// Depths implements plugins.Index.
func (b *Beliefs) Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16) {
	b.DepthsAt(chain, among, b.now(), out)
}

// DepthsAt implements plugins.Guesser.
func (b *Beliefs) DepthsAt(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time,
	out *[index.MaxHosts]uint16) {
	var known index.HostBitmap
	if heard := b.heard.Load(); !heard.Empty() {
		known = among.And(*heard).AndNot(b.Guessed())
	}
	if known.Empty() {
		b.Guesses.Depths(chain, among, now, out)
	} else {
		b.Index.Depths(chain, known, out) // 0 for all others
		b.Guesses.Extend(chain, among.AndNot(b.denied.Load().And(known)), now, out)
	}
	b.round(among, out)
}

// InTiers implements plugins.Tiered.
func (b *Beliefs) InTiers(id index.HostID, chain []kvpool.BlockHash, depth, every int) [index.Tiers]int {
	return b.Index.InTiers(id, chain, depth, every)
}

// BelowGPU implements plugins.Tiered. What is guessed of a replica counts as in its GPU.
func (b *Beliefs) BelowGPU() index.HostBitmap {
	below := b.Index.BelowGPU()
	if below.Empty() {
		return below
	}
	return below.AndNot(b.Guessed())
}

// Guessed returns the replicas whose events tell nothing of our chains.
func (b *Beliefs) Guessed() index.HostBitmap {
	return b.silent.Load().Or(b.Differ()).Or(*b.saltless.Load())
}
