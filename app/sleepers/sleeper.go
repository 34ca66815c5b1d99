package sleepers

import (
	"slices"
	"sync"
	"time"

	"octet/routing/fleet"
	"octet/scheduler/hold"
)

// sleeper is one specialist's.
type sleeper struct {
	of    *Sleepers
	name  string
	queue *hold.Queue

	mu     sync.Mutex // guards all below; of others Sleepers.mu alone is taken under it
	terms  Terms
	waking waking
	tired  map[*fleet.Replica]*idle
	woken  uint64
	failed uint64
	rested uint64

	crowdedAt time.Time // since when requests queue at every replica that serves; zero while they do not
	stuckAt   time.Time // since when a replica sleeps that has requests; zero while none does
}

func newSleeper(s *Sleepers, name string, t Terms) *sleeper {
	one := &sleeper{of: s, name: name, terms: t, tired: map[*fleet.Replica]*idle{}}
	c := one.bounds()
	c.Now, c.Terms, c.Entered = time.Now, one.holds, func() { one.look(true) }
	one.queue = hold.New(c)
	return one
}

func (one *sleeper) bounds() hold.Config {
	c := one.of.config
	return hold.Config{MaxWaiting: one.terms.MaxWaiting, Aging: one.terms.Aging, Weights: c.Weights, Ceiling: c.Ceiling,
		Width: width}
}

func (one *sleeper) redeclare(t Terms) {
	one.mu.Lock()
	one.terms = t
	bounds := one.bounds()
	one.mu.Unlock()
	one.queue.Reconfigure(bounds)
}

// holds returns on what terms requests are held now.
func (one *sleeper) holds() hold.Terms {
	found := one.of.config.Found(one.name)
	now := time.Now()
	one.mu.Lock()
	defer one.mu.Unlock()
	t := hold.Terms{Back: one.waking.left(now), Retry: one.waking.retry(now)}
	if !found.Gone && (found.Coming || one.expects(found.Replicas)) {
		t.For, t.Wakes = one.terms.Hold, one.terms.Wakes
	}
	return t
}

// expects reports whether a replica may come to serve by itself, or be woken, or has come to serve: then those that
// are held go first, and others wait behind them. The caller holds mu.
func (one *sleeper) expects(replicas []Replica) bool {
	if one.waking.asked() || one.terms.Declared && len(one.terms.Argv) > 0 {
		return true
	}
	for _, r := range replicas {
		if r.Member.Wakable() || r.Member.Resting() || one.terms.Declared && !r.Member.Draining() ||
			takes(r.Member) {
			return true
		}
	}
	return false
}

// look opens the queue while a replica serves, and where the specialist is gone, for there is nothing to wait for. Else
// it closes it, and has one woken if requests wait, or if one is wanted for a request that cannot wait so long, or if
// one sleeps that has requests.
func (one *sleeper) look(wanted bool) {
	found := one.of.config.Found(one.name)
	replicas, now, serves := found.Replicas, time.Now(), false
	for _, r := range replicas {
		serves = serves || r.Known && takes(r.Member)
	}
	one.mu.Lock()
	woke := one.noteServing(serves, one.waking.up(replicas, serves), now)
	crowded := serves && one.crowded(replicas, now)
	stuck := one.stuck(replicas, now)
	one.mu.Unlock()
	if serves || found.Gone {
		one.queue.Open(woke)
	} else {
		one.queue.Close()
	}
	called := !serves && !found.Gone && (wanted || one.queue.Len() > 0)
	if called || crowded || stuck || serves && len(lacking(replicas)) > 0 {
		one.wake(replicas, serves, now)
	}
}

func (one *sleeper) state() State {
	one.mu.Lock()
	defer one.mu.Unlock()
	return State{Specialist: one.name, Held: one.queue.Len(), Woken: one.woken, Failed: one.failed, Rested: one.rested,
		WakeTime: one.waking.took}
}

// takes returns true if a replica takes requests that want answers, by what is known of it.
func takes(r *fleet.Replica) bool { return answers(r) && r.Available() && r.Admits() }

// answers returns true if the replica's role is to bring answers.
func answers(r *fleet.Replica) bool { return fleet.Answers(r.Spec().Role) }

// lacking returns the replicas that sleep of those roles that bring no answers, and of which none is awake.
func lacking(replicas []Replica) (asleep []Replica) {
	for _, r := range replicas {
		role := r.Member.Spec().Role
		if answers(r.Member) || !r.Member.Wakable() || slices.ContainsFunc(replicas, func(o Replica) bool {
			return o.Member.Spec().Role == role && o.Member.Available()
		}) {
			continue
		}
		asleep = append(asleep, r)
	}
	return asleep
}
