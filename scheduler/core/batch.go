package core

import "octet/kvpool"

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
	Policy  Policy           // of this request
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
