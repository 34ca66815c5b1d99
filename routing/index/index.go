package index

import (
	"context"

	"octet/kvpool"
)

// Indexer knows which replica holds which block. Package runs has the one that serves by default, package reference the
// plain one. Safe for concurrent use.
type Indexer interface {
	Reader
	Tiered
	Writer
	Lifecycle
	Inspector
}

// Reader answers queries.
type Reader interface {
	// Depths sets out[h] to the number of leading blocks of chain that replica h holds, for each living h in among, and
	// to 0 for all others. chain begins where chains begin: chain[0] follows no block. The answer equals a
	// block-by-block scan for any content that came with true claims (see Op). Blocks after the 65,535th do not count.
	// Depths allocates nothing.
	Depths(chain []kvpool.BlockHash, among HostBitmap, out *[MaxHosts]uint16)
	// Alive returns the replicas that answers may name. It takes no lock.
	Alive() HostBitmap
	// Stale returns the living replicas that missed events: what the index knows of them is a guess. It takes no lock.
	Stale() HostBitmap
}

// Tiered tells where on a replica blocks lie.
type Tiered interface {
	// InTiers counts the leading blocks of chain, of the first depth, that replica h holds, each in the fastest tier
	// that has it. It looks at each every-th of them, which stands for those up to the next; with 1 it looks at all. If
	// h is in BelowGPU it reads h's tier map, which no query does.
	InTiers(h HostID, chain []kvpool.BlockHash, depth, every int) (held [Tiers]int)
	// BelowGPU returns the living replicas that have stored blocks outside of the GPU since they were last empty: of
	// all others, all blocks are in the GPU. It takes no lock.
	BelowGPU() HostBitmap
}

// Writer takes what replicas publish.
type Writer interface {
	// Apply carries out b unless the replica's (epoch, seq) is old. A greater epoch wipes what the replica held. A
	// batch that fits what is already there allocates nothing. Apply keeps nothing of b: its memory is the caller's
	// again.
	Apply(b Batch) Outcome
	// Resync replaces everything that the replica holds by a snapshot taken after its batch seq, and clears stale. A
	// snapshot older than the last batch is refused as Duplicate or OldEpoch: replaying the stream from there is up to
	// the caller.
	Resync(h HostID, epoch, seq uint64, held []TierBlocks) Outcome
}

// Lifecycle is the life of a slot: reusable, alive, retired, swept and reusable again.
type Lifecycle interface {
	// Admit puts slot h to use: an empty replica without an epoch, in every answer from now on. Admitting a living one
	// changes nothing. ErrOutOfRange beyond the cap, ErrUnswept while bits of the slot's last replica may be left;
	// neither changes anything.
	Admit(h HostID) error
	// Retire takes h out of every later answer, at once: one compare-and-swap, no lock. It returns true if h was alive.
	// What h held stays, masked, until Sweep.
	Retire(h HostID) bool
	// Sweep removes what the retired replica h held and makes the slot reusable. No more than Config.Sweeps run side by
	// side. When ctx ends first the slot stays unswept and a later Sweep does the rest. ErrAlive when h is in use; nil
	// when there is nothing to sweep.
	Sweep(ctx context.Context, h HostID) error
	// Reusable returns true if h can be admitted as a new replica.
	Reusable(h HostID) bool
}

// Inspector is for operators, metrics and tests.
type Inspector interface {
	// Unswept returns the retired slots that wait for their Sweep. It takes no lock.
	Unswept() HostBitmap
	// Host returns the state of slot h, the zero HostState for a slot that is not in use.
	Host(h HostID) HostState
	// Stats returns the size of the index and what it has done.
	Stats() Stats
	// Digest sums up all (host, block, tier) facts of living replicas: equal facts give equal digests in either index,
	// whatever the order in which they came. It reads everything, while changes wait.
	Digest() uint64
}
