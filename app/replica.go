package app

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"octet/app/fabric"
	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/kvpool"
	"octet/routing/fleet"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// replica is one replica of a generation.
type replica struct {
	key     replicaKey
	served  *ensemble.Replica
	client  *openai.Client
	failing atomic.Pointer[string] // what was logged of its probes, which fail; nil while they succeed
	blocks  int                    // of its Gate; 0 if not known yet
	bounds  gateBounds
	events  *config.ReplicaEvents // nil if it has no source of its own
	hashes  fabric.Hashes         // of its engine; zero if not known
	known   atomic.Bool           // a probe has found it good
	stands  fleet.Standing        // what its engine said of itself when the replica was new
	// reported is what the engine told of its pool after the start; guarded by replicas.mu, used by the next
	// generation.
	reported int
}

// replicaKey is what must stay the same for a replica to keep its slot, its connections and its breaker.
type replicaKey struct {
	specialist, name, url, model, engine, apiKey, health string
	tls                                                  config.ReplicaTLS
	rank                                                 engine.Rank
	blockSize                                            int           // tokens
	scheme                                               fabric.Hashes // that prompts are hashed by
}

func keyOf(sp *config.Specialist, rep *config.Replica) replicaKey {
	return replicaKey{sp.Name, rep.Name, rep.URL, rep.Model, rep.Engine, rep.APIKey, rep.HealthPath,
		valueOf(rep.TLS), rep.Rank(), sp.BlockSize, fabric.PromptHashes(sp)}
}

func valueOf(t *config.ReplicaTLS) config.ReplicaTLS {
	if t == nil {
		return config.ReplicaTLS{}
	}
	return *t
}

func (k replicaKey) origin() origin { return origin{k.url, k.model} }

// kind returns the name of the kind that the replica is taken for: as long as its kind is not known, a server of the
// OpenAI API and no more.
func (k replicaKey) kind() string {
	if k.engine == engine.Auto {
		return engine.Generic
	}
	return k.engine
}

// gateBounds may change while a Gate stays.
type gateBounds struct {
	maxRunning, maxWaiting int
	maxWait, aging         time.Duration
	redo                   float64
	adapters               gate.AdapterBounds
}

func (b gateBounds) config() gate.Config {
	return gate.Config{MaxRunning: b.maxRunning, MaxWaiting: b.maxWaiting, MaxWait: b.maxWait, Aging: b.aging,
		Redo: b.redo, Adapters: b.adapters}
}

// passesUnknown returns true if a replica of a kind is sent members that its kind is not known to take.
func passesUnknown(rep *config.Replica, kind *engine.Kind) bool {
	if rep.PassUnknown != nil {
		return *rep.PassUnknown
	}
	return kind.PassUnknown
}

// doors returns what a replica of a kind serves beside chat completions: as configured, else as its engine tells; nil
// for nothing.
func (s *identities) doors(rep *config.Replica, kind *engine.Kind) *atomic.Uint32 {
	if slices.Contains(rep.Doors, engine.AutoDoors) {
		if kind.Served.Doors == 0 {
			return nil
		}
		return s.doorsOf(originOf(rep))
	}
	set, _ := engine.DoorsNamed(rep.Doors)
	declared := new(atomic.Uint32)
	declared.Store(uint32(set))
	return declared
}

// reaching returns c with connections to url made by d; a nil d leaves c as it is.
func (d Dialer) reaching(url string, c openai.Config) openai.Config {
	if d != nil {
		c.Dial = func(ctx context.Context) (net.Conn, error) { return d(ctx, url) }
	}
	return c
}

// loadOf joins what a Gate knows now with what only the engine could tell when it was last asked: requests of other
// clients, and its pool if the Gate has no model of it. Requests that wait at the Gate are counted by the replica.
func loadOf(s scheduler.Stats, told *fleet.Reported) fleet.Load {
	l := fleet.Load{Waiting: told.Waiting, Running: s.Running + told.Others, Preempting: s.Preempting,
		KVUsage: told.KVUsage}
	if s.Total > 0 {
		l.KVUsage = float64(s.Total-s.Free) / float64(s.Total)
	}
	return l
}

// find returns a replica of the configuration and its specialist; nil if it has none of that name.
func find(cfg *config.Config, replica string) (*config.Specialist, *config.Replica) {
	i, j, known := placeOf(cfg, replica)
	if !known {
		return nil, nil
	}
	return &cfg.Specialists[i], &cfg.Specialists[i].Replicas[j]
}

// placeOf returns where a replica of the configuration stands: specialists[i].replicas[j].
func placeOf(cfg *config.Config, replica string) (i, j int, known bool) {
	for i := range cfg.Specialists {
		for j := range cfg.Specialists[i].Replicas {
			if cfg.Specialists[i].Replicas[j].Name == replica {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// publishes returns true if cache events of a replica can reach the gateway.
func publishes(cfg *config.Config, rep *config.Replica) bool {
	return cfg.Events.Redis != nil || cfg.Events.NATS != nil || cfg.Events.GRPC != nil || rep.Events != nil &&
		rep.Events.ZMQ != ""
}

// poolSize returns a replica's KV blocks as the configuration tells them, by number or by arithmetic; 0 if it does not.
func poolSize(sp *config.Specialist, rep *config.Replica) (int, error) {
	if rep.Blocks > 0 || sp.HBM == nil {
		return rep.Blocks, nil
	}
	g := sp.HBM.Geometry
	running := int64(sp.Scheduler.MaxRunning)
	if rep.MaxRunning > 0 {
		running = int64(rep.MaxRunning)
	}
	states := running * int64(sp.Hybrid.SSMStateBytes)
	blocks, err := kvpool.Size(
		kvpool.Memory{HBM: int64(sp.HBM.Total), Weights: int64(sp.HBM.Weights),
			ActivationReserve: int64(sp.HBM.ActivationReserve) + states},
		kvpool.Geometry{Layers: g.Layers, KVHeads: g.KVHeads, HeadDim: g.HeadDim, DTypeBytes: g.DTypeBytes,
			AttentionLayers: g.AttentionLayers},
		sp.BlockSize)
	if err != nil {
		return 0, fmt.Errorf("%w: hbm: %w", ErrConfig, err)
	}
	return blocks, nil
}

func boundsOf(cfg *config.Config, sp *config.Specialist, rep *config.Replica) gateBounds {
	b := gateBounds{sp.Scheduler.MaxRunning, sp.Scheduler.MaxWaiting, cfg.Limits.MaxQueueWait, sp.Scheduler.Aging,
		sp.Scheduler.RedoShare,
		gate.AdapterBounds{Overtakes: sp.Scheduler.AdapterOvertakes, AtOnce: sp.Scheduler.MaxAdapters}}
	if rep.MaxRunning > 0 {
		b.maxRunning = rep.MaxRunning
	}
	if b.maxWait == 0 {
		b.maxWaiting = 0 // nothing may wait; a Gate takes a maxWait of zero for no limit
	}
	return b
}

// opaque returns what clients see of a replica's name: enough to tell two apart.
func opaque(name string) string { return strconv.FormatUint(xxh3.HashString(name)>>32, 16) }
