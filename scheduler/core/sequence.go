package core

import (
	"octet/kvpool"
	"octet/scheduler/queue"
)

// sequence is one live request: waiting without blocks, or running with a table.
type sequence struct {
	queue.Entry[*sequence]
	req    Request
	prompt int      // tokens[:prompt] came with the request
	tokens []uint32 // prompt, then generated; only Commit appends, and nothing is ever overwritten
	chain  []kvpool.BlockHash
	table  kvpool.Table // empty while waiting

	computed int // tokens[:computed] are in the cache; only admission, Commit and preemption change it
	cached   int // prompt tokens that the first admission found in the prefix cache

	group     *group // of the running; nil while waiting
	held      int    // blocks before the step that it is in
	slot      int    // position in the batch that is out; -1 outside
	admitted  bool   // at least once
	preempted bool   // waits because its blocks were taken

	preemptions int    // so far
	started     uint64 // the step that started it last
	gaveWay     uint64 // the step in which it gave way last; 0 before
	kept        int    // tokens[:kept] and the state behind them are in host memory, if host is not 0
	host        int64  // bytes of the copy in host memory; 0 without a copy
	restoring   bool   // runs on that copy, which no step has brought back yet
}

func (s *sequence) generated() int { return len(s.tokens) - s.prompt }

// remaining returns the tokens that a pass must still compute before the next one can be sampled; at least 1.
func (s *sequence) remaining() int { return len(s.tokens) - s.computed }

// decoding reports whether one pass over the last token yields the next.
func (s *sequence) decoding() bool { return s.remaining() == 1 && s.generated() > 0 }

// reusable returns the blocks that an admission may share: whole ones, and never the last token, which must be computed
// for a token to be sampled. A hybrid shares nothing: blocks are of no use to it without the state at their end, and
// the only state that is kept is its own. Its chain stays empty, so its blocks are never named, shared or published
// either.
func (s *sequence) reusable(blockSize int) []kvpool.BlockHash {
	return s.chain[:min(len(s.chain), (len(s.tokens)-1)/blockSize)]
}

// parent returns what block i is chained to, and whether that is the root.
func (s *sequence) parent(i int) (h kvpool.BlockHash, root bool) {
	if i == 0 {
		return s.req.Root, true
	}
	return s.chain[i-1], false
}
