package replay

import (
	"context"
	"fmt"
	"maps"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/approx"
	"octet/routing/belief"
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
	// Endless gives all replicas one cache that holds everything that was ever computed. It is no bound: another policy
	// may spread the work better, and so be better without it.
	Endless bool
	// Oracle is no policy: its figures bound what any policy can do. Spec is not used.
	Oracle  bool
	Plugins routing.Registry // beside the catalogue's; may be nil
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
	next      int // the request that comes after this one's answer, as its place plus 1; 0 means none does
}

// run is one replay under way.
type run struct {
	config   Config
	profile  *routing.Profile
	fleet    *fleet.Fleet
	snapshot *fleet.Snapshot
	index    *runs.Indexer
	beliefs  *belief.Beliefs // on index
	hasher   kvpool.Hasher
	replicas []*replica
	trace    *Trace
	lives    []life
	arrivals arrivals
	now      scheduler.Time
	mail     []delivery // events on their way, in order
	shared   *endless   // nil for caches of the replicas' own
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
	if by.Oracle {
		if err := c.Check(); err != nil {
			return Result{}, err
		}
		out := bound(c, &trace)
		out.Profile = by.Name
		return out, nil
	}
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
	if r.beliefs, err = newBeliefs(x, c.PredictTTL); err != nil {
		return nil, err
	}
	if by.Endless {
		r.shared = newEndless(r.hasher, c.BlockSize)
	}
	if err := r.populate(); err != nil {
		return nil, err
	}
	r.expect()
	registry := plugins.Registry(plugins.Deps{Index: r.depths(), Tiers: r.beliefs, Hasher: r.hasher,
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
		r.beliefs.Begin(replica.host, approx.DefaultTTL, r.config.Blocks)
		replica.member.LoadFrom(func() fleet.Load { return replica.reports.read(r.now, replica.load) })
		r.replicas = append(r.replicas, replica)
	}
	r.snapshot = r.fleet.Snapshot(specialist)
	return nil
}

func (r *run) depths() plugins.Index {
	if r.shared != nil {
		return r.shared
	}
	return r.beliefs
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
		r.beliefs.Apply(r.mail[0].batch)
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
	rep.reports.note(r.now, rep.load)
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
	if !changed || r.shared != nil || r.config.Faults.NoEvents {
		return
	}
	if r.config.EventDelay == 0 {
		r.beliefs.Apply(b)
		return
	}
	r.mail = append(r.mail, delivery{r.now + r.config.EventDelay, b})
}

func (r *run) clock() time.Time { return time.Unix(0, int64(r.now)) }
