package index

import "octet/kvpool"

// OpKind is what an Op does.
type OpKind uint8

// The op kinds. Clear empties the cache of a replica that lives on; Shutdown retires it, as Retire does. Forget drops
// all that is known of the cache, and says nothing of what is in it: Blocks are those that may be there still, for the
// caller's own use. Fresh ends staleness: what was missed does not matter any more.
const (
	Store OpKind = iota
	Remove
	Clear
	Shutdown
	Forget
	Fresh
)

// Op is one change of one replica's cache. Each is idempotent: storing what is held and removing what is not change
// nothing, and an Op of an unknown kind or tier changes nothing either.
//
// A Store says where its blocks stand in their chain. With HasParent, Blocks[0] follows Parent; with RootKnown it
// begins a chain; and either way each later block follows the one before it. With neither, nothing is claimed, not even
// an order: the facts count all the same, but while any of them is held each query scans this replica's chain block by
// block. Hashes are cumulative, so a block has one parent: of two claims for one held block the first stands.
type Op struct {
	Kind      OpKind
	Tier      Tier
	Blocks    []kvpool.BlockHash
	Parent    kvpool.BlockHash // meaningful with HasParent
	HasParent bool
	RootKnown bool // ignored with HasParent
}

// TierBlocks is a part of a replica's cache as a snapshot gives it; the fields mean what they mean in a Store.
type TierBlocks struct {
	Tier      Tier
	Blocks    []kvpool.BlockHash
	Parent    kvpool.BlockHash
	HasParent bool
	RootKnown bool
}

// Batch is what one replica published at one moment: the unit of order. Seq counts 1, 2, 3, … within an Epoch (a
// first Seq of 0 is accepted too), and each start of the replica has a greater Epoch.
//
// A caller that keeps batches while a slot may go to another replica names the Generation that it means (see
// HostState): a batch for another one is Dead. 0 means the replica that has the slot now.
type Batch struct {
	Host       HostID
	Generation uint32
	Epoch      uint64
	Seq        uint64
	Ops        []Op
	Lost       bool   // what it told is not known: the replica is stale, as if it were missing
	Grain      uint16 // blocks of ours in one of the engine's; 0 if no event has told
}

// Outcome is what became of a Batch.
type Outcome uint8

// The outcomes. Only Applied and Gap change anything.
const (
	Applied   Outcome = iota
	Duplicate         // its Seq has been seen
	OldEpoch          // from before the replica's last start
	Gap               // applied, but batches before it are missing, or it is Lost: the replica is stale
	Dead              // the slot is not in use, retired or out of range
)

// String names the outcome for metrics.
func (o Outcome) String() string {
	return [...]string{"applied", "duplicate", "old_epoch", "gap", "dead"}[o]
}
