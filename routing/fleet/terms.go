package fleet

import (
	"cmp"
	"time"
)

// Terms are what the replicas of a Fleet are held to. Zero fields take their defaults.
type Terms struct {
	Breaker Breaker
	// the least time between two deaths of an engine that count, see Flight.Struck; default 10 s
	DeathInterval time.Duration
	ShutdownHold  time.Duration // see Replica.ShutDown; default 30 s
}

func (t Terms) withDefaults() Terms {
	t.Breaker = t.Breaker.withDefaults()
	t.DeathInterval = cmp.Or(t.DeathInterval, 10*time.Second)
	t.ShutdownHold = cmp.Or(t.ShutdownHold, 30*time.Second)
	return t
}

// Reconfigure holds all replicas, and those that join later, to t. Where the breakers' parameters are others than
// before, the breakers count anew: closed ones stay closed, the others open by the new parameters, as far as MaxEjected
// leaves them places. Requests in flight settle with the breakers that let them through, and count for nothing.
func (f *Fleet) Reconfigure(t Terms) {
	t = t.withDefaults()
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.terms.Swap(&t); before.Breaker == t.Breaker {
		return
	}
	members := map[*pool][]*Replica{}
	for _, r := range f.replicas {
		members[r.pool] = append(members[r.pool], r)
	}
	for _, p := range f.pools {
		p.renew(t.Breaker, members[p])
	}
}
