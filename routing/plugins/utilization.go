package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// utilization removes the replicas that are too full to take more: by their KV pool, or by the requests that wait for
// them.
type utilization struct {
	named
	kv      float64
	waiting int
	open    bool
}

// newUtilization: max_kv (default 0.95) is the used part of the KV pool above which a replica is full; max_waiting
// (default 128) is the number of requests queued for it above which it is; keep_all (default false) keeps all where all
// are full, instead of refusing the request.
func newUtilization(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return utilization{
			named{"utilization", reads(Fleet)},
			p.Float("max_kv", 0.95, 0, 1), p.Int("max_waiting", 128, 0, 1<<20), p.Bool("keep_all", false),
		}
	}
}

// Filter implements routing.Filter.
func (u utilization) Filter(v routing.View, left *index.HostBitmap) {
	replicas, before := Fleet.Get(v), *left
	for h := range before.All() {
		if l := replicas.Replica(h).Load(); l.KVUsage > u.kv || l.Waiting > u.waiting {
			left.Clear(h)
		}
	}
	if left.Empty() && u.open {
		*left = before
	}
}

// Verdict implements routing.Judge.
func (utilization) Verdict() routing.Verdict { return routing.Overloaded }
