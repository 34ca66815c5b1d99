package adapters

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrFull says that one more residency would pass a bound.
var ErrFull = errors.New("adapters: residency is full")

// Bounds limits a Residency. Zero fields take the defaults.
type Bounds struct {
	Adapters int // distinct adapters in all; default 4096
	PerHost  int // adapters on one host; default 256
}

// Residency knows which adapters are loaded on which hosts. Reads take no lock and do not allocate; each change copies
// what it changes, for changes are as rare as loads. Safe for concurrent use.
type Residency struct {
	bounds  Bounds
	loaded  atomic.Pointer[loads]
	writeMu sync.Mutex // held to replace loaded
}

// loads is the picture of one moment: never changed once it is published.
type loads struct {
	hosts map[string][]uint16 // adapter → hosts, ascending, never empty
	names map[uint16][]string // host → adapters, ascending, never empty
}

// NewResidency returns a Residency that holds nothing.
func NewResidency(b Bounds) *Residency {
	if b.Adapters == 0 {
		b.Adapters = 4096
	}
	if b.PerHost == 0 {
		b.PerHost = 256
	}
	r := &Residency{bounds: b}
	r.loaded.Store(&loads{})
	return r
}

// Resident reports whether adapter is loaded on host: O(log hosts).
func (r *Residency) Resident(host uint16, adapter string) bool {
	_, found := slices.BinarySearch(r.loaded.Load().hosts[adapter], host)
	return found
}

// LoadedOn returns the hosts that have adapter loaded, ascending. The caller must not change it.
func (r *Residency) LoadedOn(adapter string) []uint16 { return r.loaded.Load().hosts[adapter] }

// On returns the adapters that are loaded on host, ascending. The caller must not change it.
func (r *Residency) On(host uint16) []string { return r.loaded.Load().names[host] }

// Replace notes that host has exactly these adapters loaded, as it said itself. On ErrFull nothing changes.
func (r *Residency) Replace(host uint16, names []string) error {
	names = slices.Clone(names)
	slices.Sort(names)
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	return r.publish(host, slices.Compact(names))
}

// Forget notes that host is gone, and everything on it.
func (r *Residency) Forget(host uint16) {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	r.mustPublish(host, nil)
}

// publish makes names, ascending, the adapters of host. writeMu is held.
func (r *Residency) publish(host uint16, names []string) error {
	if len(names) > r.bounds.PerHost {
		return fmt.Errorf("%w: %d adapters on host %d, %d are allowed", ErrFull, len(names), host, r.bounds.PerHost)
	}
	next := r.loaded.Load().replaced(host, names)
	if len(next.hosts) > r.bounds.Adapters {
		return fmt.Errorf("%w: %d adapters, %d are allowed", ErrFull, len(next.hosts), r.bounds.Adapters)
	}
	r.loaded.Store(next)
	return nil
}

// mustPublish is publish for a change that only takes away, which no bound can stop.
func (r *Residency) mustPublish(host uint16, names []string) {
	if err := r.publish(host, names); err != nil {
		panic(fmt.Sprintf("adapters: taking away from host %d: %v", host, err))
	}
}

// replaced returns a copy of l in which host has exactly names.
func (l *loads) replaced(host uint16, names []string) *loads {
	next := &loads{hosts: cloned(l.hosts), names: cloned(l.names)}
	for _, name := range l.names[host] {
		put(next.hosts, name, without(next.hosts[name], host))
	}
	for _, name := range names {
		put(next.hosts, name, with(next.hosts[name], host))
	}
	put(next.names, host, names)
	return next
}

func cloned[K, V comparable](m map[K][]V) map[K][]V {
	if m == nil {
		return make(map[K][]V)
	}
	return maps.Clone(m)
}

// put sets m[k], or takes k out when there is nothing to set.
func put[K comparable, V any](m map[K][]V, k K, v []V) {
	if len(v) == 0 {
		delete(m, k)
		return
	}
	m[k] = v
}

// with returns a copy of the ascending set that holds v; without returns one that does not.
func with[V ~string | ~uint16](set []V, v V) []V {
	at, found := slices.BinarySearch(set, v)
	if found {
		return set
	}
	return slices.Insert(slices.Clone(set), at, v)
}

func without[V ~string | ~uint16](set []V, v V) []V {
	at, found := slices.BinarySearch(set, v)
	if !found {
		return set
	}
	return slices.Delete(slices.Clone(set), at, at+1)
}
