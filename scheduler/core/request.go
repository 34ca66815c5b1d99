package core

import (
	"octet/kvpool"
	"octet/scheduler"
)

// Request is what a Core schedules.
type Request struct {
	ID       uint64           // unique among live requests
	Tokens   []uint32         // prompt; the scheduler's from Add on
	Root     kvpool.BlockHash // chain root: specialist, adapter and salt are in it
	Adapter  string
	Salt     string
	Tenant   string
	Priority int            // larger is more urgent
	Arrival  scheduler.Time // kept over preemptions
	Deadline scheduler.Time // 0 means no deadline
	MaxNew   int            // tokens to generate at most; at least 1
	Draft    int            // speculative window, tokens; 0 means no speculation
	Policy   Policy         // how its tokens are sampled
	Hybrid   bool           // has recurrent state of Config.SSMStateBytes beside its keys and values
}

// bytes returns what r takes while it waits: its tokens and their hashes.
func (r *Request) bytes(blockSize int) int64 {
	return 4*int64(len(r.Tokens)) + 8*int64(len(r.Tokens)/blockSize)
}
