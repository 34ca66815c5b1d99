package events

import (
	"context"
	"time"

	"octet/routing/index"
)

// Kind is what happened to a replica's cache.
type Kind uint8

// The event kinds. Cleared empties the cache of a replica that lives on; Shutdown ends it.
const (
	Registered Kind = iota
	Evicted
	Cleared
	Shutdown
)

// Event is one change of one replica's cache, in the engine's own terms.
type Event struct {
	Kind      Kind
	Tier      index.Tier
	Adapter   string   // "" is the base model
	Salt      string   // tenant salt; "" is shared
	Hashes    []uint64 // the engine's block hashes, in chain order
	Parent    uint64   // the engine's hash of the block before Hashes[0]; unused when Root
	Root      bool     // Hashes[0] is the first block of a chain
	Tokens    []uint32 // Registered: token ids of all Hashes, BlockSize each; may be empty for offload tiers
	BlockSize int      // tokens a block
	Saltless  bool     // not on the wire: its publisher cannot say a salt, so that none says nothing
}

// Batch is what one replica published at one moment: the unit of order.
type Batch struct {
	Replica string
	Epoch   uint64    // grows with every start of the replica
	Seq     uint64    // 1, 2, 3, … within an epoch
	At      time.Time // publisher's clock; for lag metrics only
	Events  []Event
	By      Speaker // not on the wire: its transport says
	// not on the wire: how a transport recognises the batch where publishers do not number their lives; 0 if it cannot
	Mark    uint64
	Refused int // not on the wire: events that came with the batch and were left out, see Sift
	// not on the wire: it begins an epoch, but its transport cannot tell whether the replica has started anew. Then the
	// cache may hold still what it held.
	Unsure bool
	// not on the wire: it has come, and cannot be read. What it told is lost, as if it had not come: it has no events.
	Lost bool
}

// Position is how far a replica's batches were applied.
type Position struct {
	Epoch, Seq, Mark uint64 // of the batch applied last
}

// Sink takes batches in the order in which one transport carries them. It is safe for concurrent use by several
// transports and never blocks on anything but its own locks.
type Sink interface {
	Deliver(b Batch)
}

// Consumer carries batches from a transport to a sink until ctx ends, each replica's in the order in which they were
// published, by a session that it opens with OpenSession. It reconnects by itself and returns only ctx.Err() or a
// configuration error. Being one is all that a transport needs.
type Consumer interface {
	Consume(ctx context.Context, sink Sink) error
}

// Publisher carries a replica's batches to a transport. It is safe for concurrent use. It keeps b's slices, which
// are not written to after Publish.
type Publisher interface {
	Publish(ctx context.Context, b Batch) error
	Close() error
}
