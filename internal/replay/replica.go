package replay

import (
	"fmt"
	"time"

	"octet/kvpool"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler"
	"octet/scheduler/core"
)

// replica is one engine: a Core of its own, whose steps take the time that Timing says.
type replica struct {
	host    index.HostID
	core    *core.Core
	member  *fleet.Replica
	batch   core.Batch
	results []core.Result
	due     scheduler.Time // when the batch that is out is done; never while idle
	busy    time.Duration
	seq     uint64 // of the last batch of events
	sampled uint32 // the last token, so that no two answers are alike
	reports reports
}

// never is later than everything.
const never = scheduler.Time(1<<63 - 1)

func newReplica(c *Config, host int, f *fleet.Fleet) (*replica, error) {
	core, err := core.New(core.Config{
		Blocks: c.Blocks, BlockSize: c.BlockSize, MaxRunning: c.MaxRunning, MaxWaiting: 1 << 30,
		MaxWaitingBytes: 1 << 60,
		TokenBudget:     c.Budget, ChunkTokens: c.Chunk, Seed: c.Seed, PrefillRate: c.Timing.Prefill,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	r := &replica{host: index.HostID(host), core: core, due: never,
		reports: reports{delay: c.Faults.MetricsDelay, lying: host < c.Faults.Lying}}
	r.member, err = f.Put(fleet.Spec{
		Name: fmt.Sprintf("replica-%d", host), Specialist: specialist, Host: r.host,
		Blocks: c.Blocks, BlockSize: c.BlockSize, MaxRunning: c.MaxRunning,
		HasEvents: true, // prompts are tokens, whatever is known of caches
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return r, nil
}

// load is what an engine says of itself: how many wait and run, and how full the pool is.
func (r *replica) load() fleet.Load {
	s := r.core.Stats()
	return fleet.Load{
		Waiting: s.Waiting, Running: s.Running, Preempting: s.Preempting,
		KVUsage: float64(s.Total-s.Free) / float64(s.Total),
	}
}

// start begins the next step, if there is anything to do.
func (r *replica) start(t *Timing, now scheduler.Time) {
	r.due = never
	r.batch = r.core.Assemble(now)
	if len(r.batch.Items) == 0 {
		return
	}
	prefill, decodes := 0, 0
	r.results = r.results[:0]
	for i := range r.batch.Items {
		it := &r.batch.Items[i]
		result := core.Result{ID: it.ID}
		if it.Mode == core.Prefill {
			prefill += len(it.Tokens)
		} else {
			decodes++
		}
		if it.Samples {
			result.Tokens = r.sample()
		}
		r.results = append(r.results, result)
	}
	took := t.Took(prefill, decodes)
	r.busy += took
	r.due = now + took
}

func (r *replica) sample() []uint32 {
	r.sampled++
	return []uint32{r.sampled<<8 | uint32(r.host)}
}

// changes turns what happened to the cache into a batch for the index; false when nothing did.
func (r *replica) changes() (index.Batch, bool) {
	events := r.core.TakeEvents()
	if len(events) == 0 {
		return index.Batch{}, false
	}
	r.seq++
	b := index.Batch{Host: r.host, Epoch: 1, Seq: r.seq, Ops: make([]index.Op, len(events))}
	hashes := make([]kvpool.BlockHash, len(events))
	for i, e := range events {
		hashes[i] = e.Hash
		op := index.Op{Kind: index.Remove, Blocks: hashes[i : i+1 : i+1]}
		if e.Stored {
			op.Kind, op.RootKnown = index.Store, e.IsRoot
			op.Parent, op.HasParent = e.Parent, !e.IsRoot
		}
		b.Ops[i] = op
	}
	return b, true
}
