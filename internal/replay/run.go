package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
	"octet/scheduler"
	"octet/scheduler/core"
)

// specialist is the only one of a replay.
const specialist = "replay"

// Contender is a policy under trial.
type Contender struct {
	Name string
	Spec routing.ProfileSpec // as configured; Run completes it
	// Infinite gives all replicas one cache that holds everything that was ever computed: no policy does better by
	// caching.
	Infinite bool
	Plugins  routing.Registry // beside the catalogue's; may be nil
}

// life is one request on its way.
type life struct {
	*Request
	at        scheduler.Time
	first     scheduler.Time // of its first token; 0 is not yet
	last      scheduler.Time // of its last token so far
	left      int            // tokens of the answer to come
	predicted int            // prompt tokens that were taken to be cached where it was routed to
	cached    int            // prompt tokens
	flight    fleet.Flight
	refused   bool
	next      int // place, plus 1, of the request that comes after this one's answer; 0 is none
}

// run is one replay under way.
type run struct {
	config   Config
	profile  *routing.Profile
	fleet    *fleet.Fleet
	snapshot *fleet.Snapshot
	index    *runs.Indexer
	hasher   kvpool.Hasher
	replicas []*replica
	trace    *Trace
	lives    []life
	arrivals arrivals
	now      scheduler.Time
	mail     []delivery // events on their way, in order
	shared   *infinite  // nil for finite caches
	prompt   []uint32   // of the request that is being routed
	out      meter
}

// delivery is a change of a cache that reaches the index later.
type delivery struct {
	at    scheduler.Time
	batch index.Batch
}

// Run replays the trace once. The same arguments give the same Result on any machine.
func Run(ctx context.Context, c Config, trace Trace, by Contender) (Result, error) {
	r, err := newRun(c, trace, by)
	if err != nil {
		return Result{}, err
	}
	for steps := 0; r.step(); steps++ {
		if steps%4096 == 0 && ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		if r.out.fault != nil {
			return Result{}, r.out.fault
		}
	}
	return r.result(by.Name), nil
}

func newRun(c Config, trace Trace, by Contender) (*run, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	x, err := runs.New(index.Config{})
	if err != nil {
		return nil, err
	}
	r := &run{config: c, index: x, hasher: kvpool.NewHasher(c.Seed), trace: &trace, out: newMeter()}
	r.fleet = fleet.New()
	if by.Infinite {
		r.shared = newInfinite(r.hasher, c.BlockSize)
	}
	if err := r.populate(); err != nil {
		return nil, err
	}
	r.expect()
	registry := plugins.Registry(plugins.Deps{Index: r.depths(), Tiers: r.index, Hasher: r.hasher,
		Tokenizer: tokenizer{r}, Seed: c.Seed})
	maps.Copy(registry, by.Plugins)
	r.profile, err = routing.Build(plugins.Complete(by.Spec, true), registry)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", by.Name, err)
	}
	return r, nil
}

// populate makes the replicas.
func (r *run) populate() error {
	for i := range r.config.Replicas {
		replica, err := newReplica(&r.config, i, r.fleet)
		if err != nil {
			return err
		}
		if err := r.index.Admit(replica.host); err != nil {
			return err
		}
		r.replicas = append(r.replicas, replica)
	}
	r.snapshot = r.fleet.Snapshot(specialist)
	return nil
}

func (r *run) depths() plugins.Index {
	if r.shared != nil {
		return r.shared
	}
	return r.index
}

// step lets the next thing happen: a step's end before a delivery before an arrival. It returns false when all is done.
func (r *run) step() bool {
	first, due := (*replica)(nil), never
	for _, rep := range r.replicas {
		if rep.due < due {
			first, due = rep, rep.due
		}
	}
	mail, arrival := never, never
	if len(r.mail) > 0 {
		mail = r.mail[0].at
	}
	if len(r.arrivals) > 0 {
		arrival = r.arrivals[0].at
	}
	switch {
	case first != nil && due <= min(mail, arrival):
		r.now = due
		r.settle(first)
	case mail < never && mail <= arrival:
		r.now = mail
		r.index.Apply(r.mail[0].batch)
		r.mail = r.mail[1:]
	case arrival < never:
		r.now = arrival
		r.arrive(r.arrivals.take())
	default:
		return false
	}
	return true
}

// settle ends a replica's step and begins the next.
func (r *run) settle(rep *replica) {
	for i := range rep.batch.Items {
		l := &r.lives[rep.batch.Items[i].ID]
		if rep.batch.Items[i].Samples {
			rep.results[i].Stop = l.left == 1
		}
	}
	for _, o := range rep.core.Commit(rep.batch, rep.results, r.now) {
		r.token(&r.lives[o.ID], o)
	}
	r.publish(rep)
	rep.start(&r.config.Timing, r.now)
	r.publish(rep)
}

func (r *run) token(l *life, o core.Output) {
	l.left--
	if l.first == 0 {
		l.first = r.now
		l.flight.FirstToken(r.clock())
		if r.shared != nil {
			r.shared.add(l)
		} else {
			l.cached = o.Cached
		}
	} else {
		r.out.gap(r.now - l.last)
	}
	l.last = r.now
	l.flight.Grow(o.Index+1, r.clock())
	if o.Finish != core.NotFinished {
		l.flight.Land()
		r.over(l)
	}
}

// publish sends what changed in a replica's cache on its way to the index.
func (r *run) publish(rep *replica) {
	b, changed := rep.changes()
	if !changed || r.shared != nil {
		return
	}
	if r.config.EventDelay == 0 {
		r.index.Apply(b)
		return
	}
	r.mail = append(r.mail, delivery{r.now + r.config.EventDelay, b})
}

// arrive routes request i and gives it to the replica that was picked.
func (r *run) arrive(i int) {
	l := &r.lives[i]
	r.prompt = appendPrompt(make([]uint32, 0, l.Input), r.trace, i, r.config.Seed)
	c := routing.Acquire(routing.Facts{Specialist: specialist, Session: l.Session, Kind: "completion", Stream: true,
		Now: r.clock()})
	defer c.Release()
	c.Candidates(r.snapshot.Hosts)
	plugins.Fleet.Put(c, r.snapshot)
	start := time.Now()
	d, err := r.profile.Select(context.Background(), c)
	r.out.took(time.Since(start))
	var nobody *routing.NoCandidateError
	switch {
	case errors.As(err, &nobody):
		r.refuse(l)
		return
	case err != nil:
		r.out.fault = err
		return
	}
	rep := r.replicas[d.Ranked[0].Host]
	r.send(rep, i, c.View())
}

// send does what a gateway does with a decision, and what its engine does with the request.
func (r *run) send(rep *replica, i int, v routing.View) {
	l := &r.lives[i]
	chain := plugins.BlockHashes.Get(v)
	held := 0
	if depths := plugins.Depths.Get(v); depths != nil {
		held = int(depths[rep.host])
	}
	// an engine computes at least the last token
	l.predicted = min(held, (l.Input-1)/r.config.BlockSize) * r.config.BlockSize
	tokens := r.prompt
	if r.shared != nil {
		l.cached = r.shared.cached(chain, l.Input)
		tokens = tokens[l.cached:]
		r.shared.expect(l, chain)
	}
	_, err := rep.core.Add(core.Request{
		ID: uint64(i), Tokens: tokens, Root: r.root(i), Arrival: r.now, MaxNew: l.Output,
	}, r.now)
	switch {
	case errors.Is(err, scheduler.ErrRefused):
		r.refuse(l)
		return
	case err != nil:
		r.out.fault = err
		return
	}
	demand := fleet.Demand{Prompt: l.Input, Uncached: l.Input - held*r.config.BlockSize}
	rep.member.Start(&l.flight, demand, r.clock())
	if rep.due == never {
		rep.start(&r.config.Timing, r.now)
		r.publish(rep)
	}
}

// root keeps the truncated prompts of an infinite cache apart from each other.
func (r *run) root(i int) kvpool.BlockHash {
	if r.shared != nil {
		return kvpool.BlockHash(i)
	}
	return r.hasher.Root(specialist, "", "")
}

func (r *run) clock() time.Time { return time.Unix(0, int64(r.now)) }
