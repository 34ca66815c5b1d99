package discovery

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// LeaseSource is what a replica that was registered has as its source.
const LeaseSource = "lease"

// Leases are the replicas that were registered for a time. Safe for concurrent use.
type Leases struct {
	mu  sync.Mutex
	all map[string]Lease // by name; guarded by mu
}

// Lease is one registration.
type Lease struct {
	Found
	TTL  time.Duration
	Ends time.Time
}

// NewLeases returns no leases.
func NewLeases() *Leases { return &Leases{all: map[string]Lease{}} }

// Grant registers a replica until ttl has passed, or renews its registration. It returns false for the latter.
func (l *Leases) Grant(f Found, ttl time.Duration, now time.Time) (lease Lease, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, held := l.all[f.Replica.Name]
	lease = Lease{f, ttl, now.Add(ttl)}
	l.all[f.Replica.Name] = lease
	return lease, !held || !now.Before(old.Ends)
}

// End ends a registration before its time. It returns false if there is none.
func (l *Leases) End(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, held := l.all[name]
	delete(l.all, name)
	return held
}

// Of returns the registration of a replica.
func (l *Leases) Of(name string) (Lease, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease, held := l.all[name]
	return lease, held
}

// Live drops the registrations whose time has passed, and returns the others by name, and how long it is until the next
// ends; 0 if there is none.
func (l *Leases) Live(now time.Time) (live []Lease, next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.all)) {
		lease := l.all[name]
		rest := lease.Ends.Sub(now)
		if rest <= 0 {
			delete(l.all, name)
			continue
		}
		live = append(live, lease)
		if next == 0 || rest < next {
			next = rest
		}
	}
	return live, next
}
