package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"octet/routing/index"
)

// Sentinels of Put.
var (
	ErrHost = errors.New("fleet: host id cannot be used")
	ErrRole = errors.New("fleet: unknown role")
)

// Fleet is the replicas of all specialists. Safe for concurrent use; readers take no lock.
type Fleet struct {
	terms  atomic.Pointer[Terms]
	states states

	onHealthChange func(r *Replica, healthy bool) // WithHealthChange's; may be nil
	onWithdrawal   func(r *Replica, withdrawn bool, why string)
	snaps          atomic.Pointer[map[string]*Snapshot] // by specialist; replaced whole

	mu       sync.Mutex
	replicas map[string]*Replica // by name; guarded by mu
	pools    map[string]*pool    // by specialist; guarded by mu
	changed  chan struct{}       // closed and replaced by each change; guarded by mu
}

// Option changes a new Fleet.
type Option func(*Fleet)

// WithTerms sets what its replicas are held to, until Reconfigure.
func WithTerms(t Terms) Option { return func(f *Fleet) { f.terms.Store(&t) } }

// WithHealthChange has f called, on any goroutine, each time that a replica becomes healthy or ceases to be.
func WithHealthChange(f func(r *Replica, healthy bool)) Option {
	return func(fl *Fleet) { fl.onHealthChange = f }
}

// WithWithdrawal has f called, on any goroutine, each time that a replica is withdrawn or returns, with the reason.
func WithWithdrawal(f func(r *Replica, withdrawn bool, why string)) Option {
	return func(fl *Fleet) { fl.onWithdrawal = f }
}

// New returns an empty Fleet.
func New(options ...Option) *Fleet {
	f := &Fleet{replicas: map[string]*Replica{}, pools: map[string]*pool{}, changed: make(chan struct{})}
	f.terms.Store(new(Terms))
	for _, o := range options {
		o(f)
	}
	terms := f.terms.Load().withDefaults()
	f.terms.Store(&terms)
	f.snaps.Store(&map[string]*Snapshot{})
	return f
}

// Put adds a replica, or replaces the one of the same name. An unchanged spec keeps its replica and its state; a
// changed one starts anew, though draining when the old one was, and withdrawn when the old one was and has the same
// URL. What the old one has in flight ends on the old one.
func (f *Fleet) Put(s Spec) (*Replica, error) {
	if s.Role == "" {
		s.Role = RoleBoth
	}
	if !slices.Contains([]string{RoleBoth, RolePrefill, RoleDecode, RolePreprocess}, s.Role) {
		return nil, fmt.Errorf("%w: %s is %q", ErrRole, s.Name, s.Role)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.checkHost(s); err != nil {
		return nil, err
	}
	old := f.replicas[s.Name]
	if old != nil && reflect.DeepEqual(old.spec, s) {
		return old, nil
	}
	draining := old != nil && old.Draining()
	if old != nil {
		f.removeMember(old)
	}
	r := newReplica(s, f)
	r.SetDraining(draining)
	if old != nil && old.spec.URL == s.URL {
		r.change(func(w *withdrawal) { *w = old.withdrawn() })
		r.rest = old.rest
		r.before.Store(old)
	}
	f.replicas[s.Name] = r
	r.pool.join()
	f.publish()
	return r, nil
}

// Remove removes a replica. Snapshots taken before still show it. It returns false if no replica has that name.
func (f *Fleet) Remove(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.replicas[name]
	if !ok {
		return false
	}
	f.removeMember(r)
	f.publish()
	return true
}

// Snapshot returns the replicas of a specialist as they are now; an empty one for an unknown specialist. It costs a map
// lookup.
func (f *Fleet) Snapshot(specialist string) *Snapshot {
	if s, ok := (*f.snaps.Load())[specialist]; ok {
		return s
	}
	return NewSnapshot()
}

// Find returns the replica of that name.
func (f *Fleet) Find(name string) (*Replica, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.replicas[name]
	return r, ok
}

// All returns every replica, ascending by host.
func (f *Fleet) All() []*Replica {
	all, _ := f.members()
	return all
}

// members returns every replica, ascending by host, and a channel that closes when that changes.
func (f *Fleet) members() ([]*Replica, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sorted(), f.changed
}

// sorted returns every replica, ascending by host. The caller holds f.mu.
func (f *Fleet) sorted() []*Replica {
	return slices.SortedFunc(maps.Values(f.replicas),
		func(a, b *Replica) int { return cmp.Compare(a.spec.Host, b.spec.Host) })
}

// checkHost returns ErrHost if s cannot have its host id. The caller holds f.mu.
func (f *Fleet) checkHost(s Spec) error {
	if s.Host >= index.MaxHosts {
		return fmt.Errorf("%w: %s has %d, the highest is %d", ErrHost, s.Name, s.Host, index.MaxHosts-1)
	}
	for _, r := range f.replicas {
		if r.spec.Host == s.Host && r.spec.Name != s.Name {
			return fmt.Errorf("%w: %s has %d, which %s has", ErrHost, s.Name, s.Host, r.spec.Name)
		}
	}
	return nil
}

// removeMember ends r's membership. The caller holds f.mu.
func (f *Fleet) removeMember(r *Replica) {
	delete(f.replicas, r.spec.Name)
	r.leave()
	r.pool.leave(r)
	f.states.forget(r.spec.Host)
}

// poolOf returns the pool of a specialist. The caller holds f.mu.
func (f *Fleet) poolOf(specialist string) *pool {
	p, ok := f.pools[specialist]
	if !ok {
		p = &pool{share: f.terms.Load().Breaker.MaxEjected}
		f.pools[specialist] = p
	}
	return p
}

// publish makes the snapshots anew. The caller holds f.mu.
func (f *Fleet) publish() {
	members, snaps := map[string][]*Replica{}, map[string]*Snapshot{}
	for _, r := range f.sorted() {
		members[r.spec.Specialist] = append(members[r.spec.Specialist], r)
	}
	for specialist, of := range members {
		snaps[specialist] = NewSnapshot(of...)
	}
	f.snaps.Store(&snaps)
	close(f.changed)
	f.changed = make(chan struct{})
}
