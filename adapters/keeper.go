package adapters

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Engine is what a Keeper asks of one replica's engine. ErrUnsupported means that it cannot do it at all.
type Engine interface {
	Load(ctx context.Context, name, path string) error
	Unload(ctx context.Context, name string) error
	List(ctx context.Context) ([]Listed, error)
	Probe(ctx context.Context) error // nil if the engine is well
}

// Member is one replica as a Keeper takes it.
type Member struct {
	HostTerms
	Name   string
	Engine Engine
	// Rests returns true while the engine has put its model aside, or is about to: then it is told to load and unload
	// nothing. It must not call the Keeper. Nil if it never does.
	Rests func() bool
}

// Keeper keeps the adapters of one specialist where its Placement says. Safe for concurrent use.
type Keeper struct {
	log       *slog.Logger
	residency *Residency
	force     atomic.Pointer[map[string]string] // by adapter: the name of its edition in force, in the engines

	ctx     context.Context // of loads and unloads; ends with Close
	end     context.CancelFunc
	running sync.WaitGroup // loads and unloads

	mu      sync.Mutex // guards all below; nothing is asked of an engine under it
	p       *Placement
	members map[uint16]Member
	looking map[uint16]bool  // hosts whose engines are asked what they have, for requests that wait
	loads   map[uint16]*load // that are under way, by host
	moves   int              // that the caller of Tick knows of
	counts  Counts
	closed  bool

	complaints complaints
}

// Counts are what a Keeper has done so far.
type Counts struct {
	Loads, Failures              uint64
	Unloads                      [Causes]uint64
	Found, Waited, Refused, Late uint64 // claims that were granted at once, later, not, and given up
	Waiting, Loaded              int    // claims that wait now; adapters that are loaded now, on all hosts
}

// NewKeeper returns a Keeper without replicas and adapters, which makes what is loaded known by r.
func NewKeeper(log *slog.Logger, r *Residency) *Keeper {
	k := &Keeper{log: log, residency: r, p: NewPlacement(Rules{}), members: map[uint16]Member{},
		looking: map[uint16]bool{}, loads: map[uint16]*load{}}
	k.force.Store(&map[string]string{})
	k.ctx, k.end = context.WithCancel(context.Background())
	return k
}

// Configure has the Keeper keep these adapters on these replicas, by their hosts.
func (k *Keeper) Configure(r Rules, declared []Adapter, members map[uint16]Member) {
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.members {
		if _, stays := members[id]; !stays {
			k.p.HostGone(id, now)
		}
	}
	k.members = maps.Clone(members)
	k.p.Configure(r, declared, now)
	for id, m := range members {
		k.p.HostUp(id, m.HostTerms, now)
	}
	k.moves = k.p.Moves()
	k.publish()
}

// publish makes what has changed known. mu is held.
func (k *Keeper) publish() {
	k.p.changes(func(host uint16, served []string) {
		if err := k.residency.Replace(host, served); err != nil {
			k.log.Warn("adapters", "replica", k.members[host].Name, "error", err)
		}
	})
	if k.p.altered {
		force := k.p.inForce()
		k.force.Store(&force)
		k.p.altered = false
	}
}

// Edition returns the name of an adapter's edition in force, in the engines; the adapter's own if it is not declared.
func (k *Keeper) Edition(adapter string) string {
	if served := (*k.force.Load())[adapter]; served != "" {
		return served
	}
	return adapter
}

// InForce returns the edition of an adapter that requests are sent to. False if it is not declared.
func (k *Keeper) InForce(adapter string) (Adapter, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, _, known := k.p.InForce(adapter)
	return a, known
}

// Serving is Placement.Serving, now.
func (k *Keeper) Serving(served string, allowed func(uint16) bool) (hosts []uint16, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.p.Serving(served, allowed, time.Now())
}

// Nowhere returns why no replica can hold an edition now, and when one may.
func (k *Keeper) Nowhere(adapter, served string) *Refusal {
	k.mu.Lock()
	defer k.mu.Unlock()
	after, detail := k.p.RetryAfter(served, time.Now())
	if detail == "" {
		return &Refusal{Adapter: adapter, Reason: ErrNowhere, RetryAfter: after}
	}
	return &Refusal{Adapter: adapter, Reason: ErrLoad, RetryAfter: after, Detail: detail}
}

// Tick looks at everything: what is to be loaded, what is not needed any more, which editions come into force. It
// returns true if one has.
func (k *Keeper) Tick() (moved bool) {
	k.mu.Lock()
	for id := range k.members {
		k.noteRest(id)
	}
	actions := k.p.Step(time.Now())
	moved = k.p.Moves() != k.moves
	k.moves = k.p.Moves()
	k.publish()
	k.perform(actions)
	k.mu.Unlock()
	return moved
}

// look is Observe for a request that waits. Where the engine does not answer, what waits there goes elsewhere.
func (k *Keeper) look(host uint16) {
	k.mu.Lock()
	timeout := k.p.rules.Timeout
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(k.ctx, timeout)
	defer cancel()
	err := errAgain
	for err == errAgain { //nolint:errorlint // as it is
		err = k.observe(ctx, host)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.looking, host)
	if err != nil && k.p.unseen(host) {
		k.p.Down(host, time.Now())
	}
}

// errAgain means that what an engine said was overtaken by another configuration.
var errAgain = errors.New("adapters: configured anew meanwhile")

// Observe asks the engine of a host which adapters it has.
func (k *Keeper) Observe(ctx context.Context, host uint16) { _ = k.observe(ctx, host) } // it is asked again

func (k *Keeper) observe(ctx context.Context, host uint16) error {
	return k.hear(ctx, host, func(t Told) { k.p.Observe(host, t, time.Now()) })
}

// hear has note take, under mu, what the engine of a host says that it has.
func (k *Keeper) hear(ctx context.Context, host uint16, note func(Told)) error {
	k.mu.Lock()
	m, ops := k.members[host], k.p.Ops(host)
	k.mu.Unlock()
	if m.Engine == nil {
		return nil
	}
	var listed []Listed
	if m.Lists || m.Loads {
		var err error
		if listed, err = m.Engine.List(ctx); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.members[host].Engine != m.Engine {
		return errAgain
	}
	note(Told{Listed: listed, Ops: ops})
	k.publish()
	k.step(host, time.Now())
	return nil
}

// Down notes that the engine of a host does not answer.
func (k *Keeper) Down(host uint16) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.p.Down(host, time.Now())
	k.publish()
}

// Unwell is Down for an engine that is known not to be well: one that has died may never answer the load that it died
// of, which is not waited for any more.
func (k *Keeper) Unwell(host uint16) {
	k.mu.Lock()
	if under := k.loads[host]; under != nil {
		under.cut(errUnwell)
	}
	k.mu.Unlock()
	k.Down(host)
}

// Runs is Placement.Runs.
func (k *Keeper) Runs(host uint16, served []string, most int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.p.Runs(host, served, most)
}

// Counts returns what the Keeper has done so far.
func (k *Keeper) Counts() Counts {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.counts
	c.Unloads = k.p.unloads
	for _, h := range k.p.hosts {
		for _, at := range h.copies {
			c.Waiting += len(at.waiting)
			if at.state == loaded {
				c.Loaded++
			}
		}
	}
	return c
}

// Close ends loads and unloads, and waits for them.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	for id := range k.members {
		k.p.HostGone(id, time.Now())
	}
	k.members = map[uint16]Member{}
	k.mu.Unlock()
	k.end()
	k.running.Wait()
}
