package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/gateway"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/kvpool"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// resident is a replica that lives in the house.
type resident struct {
	replica *ensemble.Replica
	key     residence
	client  *openai.Client
	failing atomic.Pointer[string] // what the log was told of its probes, which fail; nil while they do not
	blocks  int                    // of its Gate; 0 where nobody knows yet
	bounds  gateBounds
	events  *config.ReplicaEvents // nil: none of its own
	hashes  hashes                // of the engine; zero where nobody said
	// reported is what the engine said of its pool after the start; guarded by house.mu, taken up by the next
	// generation.
	reported int
}

// residence is what must stay the same for a replica to keep its slot, its connections and its breaker.
type residence struct {
	specialist, name, url, model, engine, apiKey, health string
	blockSize                                            int    // tokens
	scheme                                               hashes // that prompts are hashed by
}

func (k residence) origin() origin { return origin{k.url, k.model} }

// kind is what the replica is taken for: where nothing has told its kind, a server of the OpenAI API and no more.
func (k residence) kind() string {
	if k.engine == autoEngine {
		return engine.Generic
	}
	return k.engine
}

// gateBounds may change while a Gate stays.
type gateBounds struct {
	maxRunning, maxWaiting int
	maxWait, aging         time.Duration
	redo                   float64
}

func (b gateBounds) config() gate.Config {
	return gate.Config{MaxRunning: b.maxRunning, MaxWaiting: b.maxWaiting, MaxWait: b.maxWait, Aging: b.aging,
		Redo: b.redo}
}

// errFull is a fleet with no slot left in the index: removed replicas keep theirs until they are swept.
var errFull = errors.New("no slot is free in the index")

// firstLook is how long the start may wait for engines to say how large their pools are.
const firstLook = 750 * time.Millisecond

// moveIn returns the residents of cfg: those of the house where nothing essential has changed, new ones else.
func (h *house) moveIn(ctx context.Context, cfg *config.Config) (map[string]*resident, error) {
	staying := map[string]*resident{}
	var fresh []*resident
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		for j := range sp.Replicas {
			r, err := h.resident(cfg, sp, &sp.Replicas[j])
			if err != nil {
				h.vacate(fresh)
				return nil, fmt.Errorf("%s: %w", sp.Replicas[j].Name, err)
			}
			if h.residents[r.key.name] == nil || h.residents[r.key.name].replica.Host != r.replica.Host {
				fresh = append(fresh, r)
			}
			staying[r.key.name] = r
		}
	}
	h.look(ctx, fresh)
	return staying, h.open(cfg, staying)
}

// resident returns the resident for one replica of the configuration, without a Gate yet where it is new.
func (h *house) resident(cfg *config.Config, sp *config.Specialist, rep *config.Replica) (*resident, error) {
	key := residence{sp.Name, rep.Name, rep.URL, rep.Model, rep.Engine, rep.APIKey, rep.HealthPath, sp.BlockSize,
		promptHashes(sp)}
	blocks, err := poolSize(sp, rep)
	if err != nil {
		return nil, err
	}
	r := &resident{key: key, blocks: blocks, bounds: boundsOf(cfg, sp, rep), events: rep.Events,
		hashes: engineHashes(sp, rep)}
	r.replica = &ensemble.Replica{
		MaxWaiting: r.bounds.maxWaiting,
		Name:       rep.Name, Model: rep.Model, Kind: engineKind(key.kind()), APIKey: rep.APIKey,
		ForwardPriority: rep.ForwardPriority, BootstrapPort: rep.BootstrapPort,
		PrefillHeader: rep.PrefillHeader, PassUnknown: passesUnknown(rep, key.kind()), Opaque: opaque(rep.Name),
		Contradiction: func() string { return h.contradiction(key) },
		Tokens:        func() ensemble.TokenCheck { return h.tokens.checks.state(rep.Name) },
	}
	if old := h.residents[rep.Name]; old != nil && old.key == key {
		r.client, r.replica.Client, r.replica.Host, r.replica.Accuracy = old.client, old.client, old.replica.Host,
			old.replica.Accuracy
		if blocks == 0 {
			r.blocks = max(old.blocks, old.reported)
		}
		return r, nil
	}
	client := clientConfig(cfg, rep)
	client.Loops, client.Via = &h.loops, h.via
	if r.client, err = openai.New(h.dial.reaching(rep.URL, client)); err != nil {
		return nil, err
	}
	r.replica.Client, r.replica.Accuracy = r.client, new(metrics.Accuracy)
	r.replica.Host, err = h.slot()
	return r, err
}

// engineKind returns the kind of that name, the zero Kind for one that is not known.
func engineKind(name string) engine.Kind {
	k, _ := engine.KindOf(name)
	return k
}

// passesUnknown says whether a replica of a kind is sent what its kind is not known to take.
func passesUnknown(rep *config.Replica, kind string) bool {
	if rep.PassUnknown != nil {
		return *rep.PassUnknown
	}
	return engineKind(kind).PassUnknown
}

// dialer connects to the engine at a URL.
type dialer func(ctx context.Context, url string) (net.Conn, error)

// reaching has a client connect as d does.
func (d dialer) reaching(url string, c openai.Config) openai.Config {
	if d != nil {
		c.Dial = func(ctx context.Context) (net.Conn, error) { return d(ctx, url) }
	}
	return c
}

// slot takes a free slot of the index.
func (h *house) slot() (index.HostID, error) {
	for host := range index.HostID(index.MaxHosts) {
		if !h.index.Alive().Has(host) && h.index.Reusable(host) {
			return host, h.index.Admit(host)
		}
	}
	return 0, errFull
}

// vacate undoes what resident did for new ones.
func (h *house) vacate(fresh []*resident) {
	for _, r := range fresh {
		h.forget(r)
		_ = r.client.Close() // nothing was sent on it
	}
}

// look asks the engines of new residents for the size of their pools where the configuration does not say. Engines that
// do not answer in time are asked again by their probes; until then only their running requests are counted.
func (h *house) look(ctx context.Context, fresh []*resident) {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	var asking sync.WaitGroup
	for _, r := range fresh {
		if r.blocks == 0 {
			asking.Go(func() { r.blocks = reportedBlocks(ctx, r.client, r.key.blockSize) })
		}
	}
	asking.Wait()
}

// open gives every resident its Gate and its place in the fleet.
func (h *house) open(cfg *config.Config, staying map[string]*resident) error {
	for _, r := range staying {
		old := h.residents[r.key.name]
		if old != nil && old.replica.Host == r.replica.Host && old.blocks == r.blocks {
			r.replica.Gate = old.replica.Gate
			r.replica.Gate.Reconfigure(r.bounds.config())
			continue
		}
		shape := r.bounds.config()
		shape.Blocks, shape.BlockSize, shape.Now, shape.Jitter = r.blocks, r.key.blockSize, time.Now, jitter
		shape.Weights, shape.AgingCeiling, shape.Promised = h.weight, gateway.PriorityMost,
			h.book(r.key.specialist).full.Expected
		gate, err := gate.New(shape)
		if err != nil {
			return fmt.Errorf("%s: %w", r.key.name, err)
		}
		r.replica.Gate = gate
	}
	for _, r := range staying {
		if err := h.enlist(cfg, r); err != nil {
			return fmt.Errorf("%s: %w", r.key.name, err)
		}
	}
	return nil
}

func (h *house) enlist(cfg *config.Config, r *resident) error {
	sp, rep := find(cfg, r.key.name)
	member, err := h.fleet.Put(fleet.Spec{
		Name: rep.Name, Specialist: sp.Name, URL: rep.URL, Model: rep.Model, Engine: r.key.kind(), Role: rep.Role,
		Labels: rep.Labels,
		Host:   r.replica.Host, Blocks: rep.Blocks, BlockSize: sp.BlockSize, MaxRunning: r.bounds.maxRunning,
		HasEvents: publishes(cfg, rep),
	})
	if err != nil {
		return err
	}
	r.replica.Fleet = member
	gate := r.replica.Gate
	member.SampleFrom(func() fleet.Load { return loadOf(gate.Stats(), member.Reported()) })
	member.QueueFrom(func() (int, bool) { return member.Reported().Waiting, gate.Preempting() })
	return nil
}

// loadOf is what a Gate knows now, with what only the engine could know when it was last asked: who else is there, and
// its pool where the Gate has no model of it. Who waits at the Gate the replica counts itself.
func loadOf(s scheduler.Stats, said *fleet.Reported) fleet.Load {
	l := fleet.Load{Waiting: said.Waiting, Running: s.Running + said.Others, Preempting: s.Preempting,
		KVUsage: said.KVUsage}
	if s.Total > 0 {
		l.KVUsage = float64(s.Total-s.Free) / float64(s.Total)
	}
	return l
}

// find returns a replica's place in the configuration, which has it.
func find(cfg *config.Config, replica string) (*config.Specialist, *config.Replica) {
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		for j := range sp.Replicas {
			if sp.Replicas[j].Name == replica {
				return sp, &sp.Replicas[j]
			}
		}
	}
	panic("cmd: no replica " + replica)
}

// publishes says whether cache events can reach us from a replica.
func publishes(cfg *config.Config, rep *config.Replica) bool {
	return cfg.Events.Redis != nil || cfg.Events.NATS != nil || cfg.Events.GRPC != nil || rep.Events != nil &&
		rep.Events.ZMQ != ""
}

// poolSize returns a replica's KV blocks where the configuration says, by number or by arithmetic; 0 where it does not.
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
		return 0, fmt.Errorf("%w: hbm: %w", errConfig, err)
	}
	return blocks, nil
}

func boundsOf(cfg *config.Config, sp *config.Specialist, rep *config.Replica) gateBounds {
	b := gateBounds{sp.Scheduler.MaxRunning, sp.Scheduler.MaxWaiting, cfg.Limits.MaxQueueWait, sp.Scheduler.Aging,
		sp.Scheduler.RedoShare}
	if rep.MaxRunning > 0 {
		b.maxRunning = rep.MaxRunning
	}
	if b.maxWait == 0 {
		b.maxWaiting = 0 // no time to wait is no place to wait: a Gate takes a wait of 0 for one without end
	}
	return b
}

// opaque is what clients see of a replica's name: enough to tell two apart.
func opaque(name string) string { return strconv.FormatUint(xxh3.HashString(name)>>32, 16) }
