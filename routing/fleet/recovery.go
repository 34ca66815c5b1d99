package fleet

import (
	"time"

	"github.com/sony/gobreaker/v2"
)

// Recovery estimates the time until the replica may serve again: until enough probes can have been good, and its
// breaker lets a request through. 0 is unknown, as it is where the replica drains, is withdrawn, or serves.
func (r *Replica) Recovery(now time.Time) time.Duration {
	if why := r.Why(); why == draining || r.Withdrawn() && why != Loading {
		return 0
	}
	back := r.breaker.openFor(now)
	if r.Healthy() {
		return back
	}
	w := r.watch.Load()
	if w == nil {
		return 0
	}
	r.stateMu.Lock()
	missing := max(w.healthy-r.passed, 1)
	r.stateMu.Unlock()
	return max(back, r.NextProbe(now)+time.Duration(missing-1)*w.interval)
}

// NextProbe returns the time until the next probe is due, of a millisecond at least; 0 without a Monitor.
func (r *Replica) NextProbe(now time.Time) time.Duration {
	w := r.watch.Load()
	if w == nil {
		return 0
	}
	return max(time.Duration(w.next.Load()-now.UnixNano()), time.Millisecond)
}

// openFor returns how long the breaker stays open.
func (b *breaker) openFor(now time.Time) time.Duration {
	cb := b.cb.Load()
	if cb.State() != gobreaker.StateOpen {
		return 0
	}
	opened := cb.made.Add(time.Duration(cb.began.Load()))
	return max(opened.Add(cb.config.OpenFor).Sub(now), time.Millisecond)
}

// Recovery estimates the time until the first of the replicas that cannot serve now can; 0 is unknown.
func (s *Snapshot) Recovery(now time.Time) (soonest time.Duration) {
	for h := range s.Hosts.All() {
		if back := s.replicas[h].Recovery(now); back > 0 && (soonest == 0 || back < soonest) {
			soonest = back
		}
	}
	return soonest
}

// Serves returns true if a replica that can bring answers takes requests now.
func (s *Snapshot) Serves() bool { return s.serves((*Replica).Admits) }

// Proved returns true if one of those that Serve has answered before.
func (s *Snapshot) Proved() bool {
	return s.serves(func(r *Replica) bool { return r.Admits() && r.Proved() })
}

func (s *Snapshot) serves(as func(*Replica) bool) bool {
	hosts := s.Available()
	hosts.Keep(&s.decode)
	for h := range hosts.All() {
		if as(s.replicas[h]) {
			return true
		}
	}
	return false
}

// Sleeps returns true if a replica that can bring answers sleeps, or is put to sleep, and could be woken.
func (s *Snapshot) Sleeps() bool {
	hosts := s.Hosts
	hosts.Keep(&s.decode)
	for h := range hosts.All() {
		if r := s.replicas[h]; r.Wakable() || r.Resting() && r.stays() {
			return true
		}
	}
	return false
}

// Wakable returns true if the replica sleeps, and would take requests awake.
func (r *Replica) Wakable() bool { return r.Said() == Asleep && r.stays() }

// stays returns true if the replica is healthy, and is neither drained nor found no more.
func (r *Replica) stays() bool { return r.Healthy() && !r.Draining() && !r.Left() }
