package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"octet/adapters"
	"octet/app/fabric"
	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokenizers"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/metrics"
	"octet/internal/contain"
	"octet/internal/dialing"
	"octet/internal/http1/poll"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// firstLook is how long a start may wait for engines to tell what they are, and how large their pools are.
const firstLook = 750 * time.Millisecond

// replicas are those of the generation in force, and what outlives each of them.
type replicas struct {
	fabric     *fabric.Fabric
	fleet      *fleet.Fleet
	residency  *adapters.Residency
	loops      poll.Loops // that carry open streams
	dial       Dialer
	kinds      engine.Table
	via        string // what this gateway calls itself to engines
	guard      *dialing.Guard
	trust      *certificates
	checks     *tokenizers.Checks
	identities *identities
	forget     func(replica string)                 // drops the metrics of a replica that has gone
	weight     func(tenant string) int              // of a tenant's share of a busy replica
	shares     func(*replica) gate.Shares           // what tenants have had of one at all gateways; nil for one alone
	asleep     func(context.Context, *replica) bool // asks an engine whether it sleeps
	// promised returns how many requests that were sent away are expected back at a time.
	promised func(specialist string) func(priority int, now time.Time) float64

	leaving leaving

	mu  sync.Mutex
	all map[string]*replica // by name; guarded by mu, replaced whole
}

func newReplicas(cfg *config.Config, a *App, via string) *replicas {
	return &replicas{
		fabric: a.fabric,
		fleet: fleet.New(fleet.WithTerms(termsOf(cfg)), fleet.WithHealthChange(a.onHealth),
			fleet.WithWithdrawal(a.onWithdrawal)),
		residency: adapters.NewResidency(adapters.Bounds{}), loops: poll.Loops{Panics: contain.Report},
		guard: a.guard, trust: a.certificates,
		dial: a.Dial, kinds: a.Source.Engines, via: via, checks: a.tokens.Checks(),
		identities: a.identities, forget: a.series.routes.Forget, weight: a.tenancy.weight, shares: a.gateways.sharesOf,
		asleep:   prober{a}.fellAsleep,
		promised: func(sp string) func(int, time.Time) float64 { return a.history.booksOf(sp).full.Expected },
		all:      map[string]*replica{},
	}
}

// reconcile returns the replicas of cfg, by name: those in force where nothing essential has changed, new ones else. On
// an error nothing has changed.
func (s *replicas) reconcile(ctx context.Context, cfg *config.Config) (map[string]*replica, error) {
	before, next := s.present(), map[string]*replica{}
	var fresh []*replica
	undo := func(err error) error {
		s.rollback(before, fresh)
		return err
	}
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		for j := range sp.Replicas {
			r, err := s.replica(cfg, sp, &sp.Replicas[j], before[sp.Replicas[j].Name])
			if err != nil {
				return nil, undo(fmt.Errorf("%s: %w", sp.Replicas[j].Name, err))
			}
			if old := before[r.key.name]; old == nil || old.served.Host != r.served.Host {
				fresh = append(fresh, r)
			}
			next[r.key.name] = r
		}
	}
	probePools(ctx, fresh)
	if err := s.openGates(before, next); err != nil {
		return nil, undo(err)
	}
	for _, r := range next {
		if err := s.register(cfg, r); err != nil {
			return nil, undo(fmt.Errorf("%s: %w", r.key.name, err))
		}
	}
	return next, nil
}

// replica returns one replica of cfg, without a Gate yet: old with its client, slot and accuracy, unless that is nil or
// another by now.
func (s *replicas) replica(cfg *config.Config, sp *config.Specialist, rep *config.Replica,
	old *replica) (*replica, error) {
	key := keyOf(sp, rep)
	blocks, err := poolSize(sp, rep)
	if err != nil {
		return nil, err
	}
	r := &replica{key: key, blocks: blocks, bounds: boundsOf(cfg, sp, rep), events: rep.Events,
		hashes: fabric.EngineHashes(sp, rep)}
	r.served = s.servedAs(r, rep)
	if old != nil && old.key == key {
		r.known.Store(old.known.Load())
		r.client, r.served.Client, r.served.Host, r.served.Accuracy = old.client, old.client, old.served.Host,
			old.served.Accuracy
		if blocks == 0 {
			r.blocks = max(old.blocks, s.reportedBy(old))
		}
		return r, nil
	}
	client := clientConfig(cfg, rep, s.trust)
	client.Kinds, client.Loops, client.Via, client.Guard = s.kinds, &s.loops, s.via, s.guard
	if r.client, err = openai.New(s.dial.reaching(rep.URL, client)); err != nil {
		return nil, err
	}
	r.served.Client, r.served.Accuracy = r.client, new(metrics.Accuracy)
	if r.served.Host, err = s.fabric.Admit(); err != nil {
		return nil, errors.Join(err, r.client.Close())
	}
	return r, nil
}

// servedAs returns what the gateway sees of a replica, without client, slot and Gate.
func (s *replicas) servedAs(r *replica, rep *config.Replica) *ensemble.Replica {
	kind, _ := s.kinds.Named(r.key.kind())
	return &ensemble.Replica{
		MaxWaiting: r.bounds.maxWaiting, Source: rep.Source,
		Name: rep.Name, Model: rep.Model, Kind: kind, Rank: rep.Rank(), APIKey: rep.APIKey,
		ForwardPriority: rep.ForwardPriority, BootstrapPort: rep.BootstrapPort,
		PrefillHeader: rep.PrefillHeader, PassUnknown: passesUnknown(rep, &kind), Opaque: opaque(rep.Name),
		Doors: s.identities.doors(rep, &kind), Weights: s.identities.weights.of(r.key.origin()),
		Context:       s.identities.limitOf(r.key.origin()),
		Contradiction: func() string { return s.identities.contradiction(r.key) },
		Tokens:        func() ensemble.TokenCheck { return ensemble.TokenCheck(s.checks.Of(rep.Name)) },
		Asleep:        func(ctx context.Context) bool { return s.asleep(ctx, r) },
	}
}

// probePools asks the engines of new replicas whether they serve, and for the size of their pools where the
// configuration does not tell it.
// Engines that do not answer in time are asked again by their probes; until then only their running requests are
// counted.
func probePools(ctx context.Context, fresh []*replica) {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	var asking sync.WaitGroup
	for _, r := range fresh {
		if r.blocks == 0 {
			asking.Go(func() { r.blocks = reportedBlocks(ctx, r.client, r.key.blockSize) })
		}
		asking.Go(func() { r.stands = standing(ctx, r) })
	}
	asking.Wait()
}

// openGates gives every replica of next its Gate: that of before if the size of its pool is the same.
func (s *replicas) openGates(before, next map[string]*replica) error {
	var kept []*replica
	for name, r := range next {
		if old := before[name]; old != nil && old.served.Host == r.served.Host && old.blocks == r.blocks {
			r.served.Gate = old.served.Gate
			kept = append(kept, r)
			continue
		}
		shape := r.bounds.config()
		shape.Blocks, shape.BlockSize, shape.Now, shape.Jitter = r.blocks, r.key.blockSize, time.Now, rand.Float64
		shape.Weights, shape.AgingCeiling, shape.Promised = s.weight, intake.PriorityMost, s.promised(r.key.specialist)
		shape.Shares = s.shares(r)
		opened, err := gate.New(shape)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.served.Gate = opened
	}
	for _, r := range kept {
		r.served.Gate.Reconfigure(r.bounds.config())
	}
	return nil
}

// register puts a replica into the fleet, which measures its load by its Gate.
func (s *replicas) register(cfg *config.Config, r *replica) error {
	sp, rep := find(cfg, r.key.name)
	member, err := s.fleet.Put(fleet.Spec{
		Name: rep.Name, Specialist: sp.Name, URL: rep.URL, Model: rep.Model, Engine: r.key.kind(), Role: rep.Role,
		Labels: rep.Labels,
		Host:   r.served.Host, Blocks: rep.Blocks, BlockSize: sp.BlockSize, MaxRunning: r.bounds.maxRunning,
		HasEvents:  publishes(cfg, rep),
		OnlyHanded: r.served.Kind.Transfer == engine.TransfersByMeeting && rep.Role == fleet.RoleDecode,
	})
	if err != nil {
		return err
	}
	r.served.Fleet = member
	if r.stands != fleet.Serving {
		member.Says(r.stands)
	}
	gate := r.served.Gate
	member.SampleFrom(func() fleet.Load { return loadOf(gate.Stats(), member.Reported()) })
	member.QueueFrom(func() (int, bool) { return member.Reported().Waiting, gate.Preempting() })
	return nil
}

// rollback gives back what reconcile took for replicas that are not to be.
func (s *replicas) rollback(before map[string]*replica, fresh []*replica) {
	for _, r := range fresh {
		if before[r.key.name] == nil {
			s.fleet.Remove(r.key.name)
		}
		s.fabric.Release(r.served.Host)
		_ = r.client.Close() // nothing was sent on it
	}
}

// commit makes the replicas of next those in force, and returns those that have no place among them.
func (s *replicas) commit(next map[string]*replica) (gone []*replica) {
	s.mu.Lock()
	before := s.all
	s.all = next
	s.mu.Unlock()
	for name, r := range before {
		if now := next[name]; now == nil || now.served.Host != r.served.Host {
			gone = append(gone, r)
		}
	}
	return gone
}

// retire takes replicas out of the fleet and the index. Requests that run on them end where they are.
func (s *replicas) retire(gone []*replica) {
	now := s.present()
	for _, r := range gone {
		s.leaving.add(r.served)
		if now[r.key.name] == nil {
			s.fleet.Remove(r.key.name)
			s.forget(r.key.name)
		}
		_ = r.client.Close() // idle connections only: requests that run on it go on
		s.residency.Forget(uint16(r.served.Host))
		s.fabric.Retire(r.key.name, r.served.Host)
	}
}

// present returns the replicas in force, by name. The map never changes.
func (s *replicas) present() map[string]*replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// report notes the size of a pool that an engine has told, for the next generation, unless it is known by now.
func (s *replicas) report(asked *replica, blocks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.all[asked.key.name]; r != nil && r.client == asked.client && r.blocks == 0 {
		r.reported = blocks
	}
}

func (s *replicas) reportedBy(r *replica) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.reported
}

// close ends the connections to engines.
func (s *replicas) close() {
	for _, r := range s.present() {
		_ = r.client.Close() // idle connections only
	}
	s.loops.Close()
}
