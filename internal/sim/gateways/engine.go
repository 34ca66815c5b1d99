package gateways

import (
	"fmt"
	"time"

	"octet/kvpool"
	"octet/routing/index"
	"octet/scheduler"
	"octet/scheduler/core"
)

// engine is one replica's: a Core of its own, whose steps take the time that Timing says.
type engine struct {
	host    index.HostID
	core    *core.Core
	batch   core.Batch
	results []core.Result
	steps   bool   // a step is under way
	seq     uint64 // of the last batch of events
	sampled uint32 // the last token, so that no two answers are alike

	inUse, beyond int // blocks at moments that are weighEvery apart: in use, and given out beyond the pool
}

func newEngine(c *Config, host int) (*engine, error) {
	e := &c.Engines
	k, err := core.New(core.Config{
		Blocks: e.Blocks, BlockSize: e.BlockSize, MaxRunning: e.MaxRunning, MaxWaiting: 1 << 30,
		MaxWaitingBytes: 1 << 60, TokenBudget: e.Budget, ChunkTokens: e.Chunk, Seed: e.Seed,
		PrefillRate: e.Timing.Prefill,
	})
	if err != nil {
		return nil, fmt.Errorf("engine %d: %w", host, err)
	}
	return &engine{host: index.HostID(host), core: k}, nil
}

// begin assembles the next step, and returns how long it takes; 0 if there is nothing to do.
func (e *engine) begin(c *Config, now scheduler.Time) time.Duration {
	e.batch = e.core.Assemble(now)
	e.steps = len(e.batch.Items) > 0
	if !e.steps {
		return 0
	}
	prefill, decodes := 0, 0
	e.results = e.results[:0]
	for i := range e.batch.Items {
		it := &e.batch.Items[i]
		result := core.Result{ID: it.ID}
		if it.Mode == core.Prefill {
			prefill += len(it.Tokens)
		} else {
			decodes++
		}
		if it.Samples {
			e.sampled++
			result.Tokens = []uint32{e.sampled<<8 | uint32(e.host)}
		}
		e.results = append(e.results, result)
	}
	return c.Engines.Timing.Took(prefill, decodes)
}

// changes turns what happened to the cache into a batch for indexes; false when nothing did.
func (e *engine) changes() (index.Batch, bool) {
	events := e.core.TakeEvents()
	if len(events) == 0 {
		return index.Batch{}, false
	}
	e.seq++
	b := index.Batch{Host: e.host, Epoch: 1, Seq: e.seq, Ops: make([]index.Op, len(events))}
	hashes := make([]kvpool.BlockHash, len(events))
	for i, ev := range events {
		hashes[i] = ev.Hash
		op := index.Op{Kind: index.Remove, Blocks: hashes[i : i+1 : i+1]}
		if ev.Stored {
			op.Kind, op.RootKnown = index.Store, ev.IsRoot
			op.Parent, op.HasParent = ev.Parent, !ev.IsRoot
		}
		b.Ops[i] = op
	}
	return b, true
}

// usage returns the used part of the pool.
func (e *engine) usage() float64 {
	s := e.core.Stats()
	return float64(s.Total-s.Free) / float64(s.Total)
}
