package receipt

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"octet/internal/poison"
)

// Ring keeps the newest receipts of one tenant. Safe for concurrent use.
type Ring struct {
	keep int // receipts

	mu    sync.Mutex
	kept  []kept   // grows to keep, then wraps; guarded by mu like all below
	keys  []uint64 // of the ids in kept, so that Find looks at little memory
	next  int      // index into kept of the oldest, once it is full
	draft record   // the one that is written now
}

// seed makes keys of ids.
var seed = maphash.MakeSeed()

// kept is one receipt of a Ring.
type kept struct {
	record   record
	verdicts *verdicts // nil before the first Find
}

// NewRing returns a Ring of at most keep receipts, and at least one.
func NewRing(keep int) *Ring { return &Ring{keep: max(keep, 1)} }

// Put keeps a copy of r. The oldest receipt makes room.
func (g *Ring) Put(r *Receipt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.place(maphash.String(seed, r.ID))
	g.draft.shared = g.draft.shared[:0]
	g.draft.text = g.draft.write(g.draft.text[:0], whole, unsafe.Pointer(r))
	k.record.text = fitted(k.record.text, g.draft.text)
	k.record.shared = fitted(k.record.shared, g.draft.shared)
}

// place returns the place of a receipt of that key, which has the oldest one's memory.
func (g *Ring) place(key uint64) *kept {
	if len(g.kept) < g.keep {
		g.kept, g.keys = append(g.kept, kept{}), append(g.keys, key)
		return &g.kept[len(g.kept)-1]
	}
	k := &g.kept[g.next]
	g.keys[g.next], k.verdicts = key, nil
	poison.Bytes(k.record.text)
	g.next = (g.next + 1) % g.keep
	return k
}

// fitted returns a copy of want, in have's memory if it is neither too small nor more than twice too large.
func fitted[T any](have, want []T) []T {
	if cap(have) < len(want) || cap(have) > 2*len(want) {
		return append(make([]T, 0, len(want)), want...)
	}
	clear(have[min(len(want), len(have)):])
	return append(have[:0], want...)
}

// Find returns the receipt of that id, rendered; false if it is not kept (any more).
func (g *Ring) Find(id string) (*Receipt, bool) {
	r, ok := g.read(id)
	if ok {
		r.render()
	}
	return r, ok
}

// read returns the receipt as it was put, with its verdicts.
func (g *Ring) read(id string) (*Receipt, bool) {
	key := maphash.String(seed, id)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, k := range g.keys {
		if k != key {
			continue
		}
		if r := g.kept[i].read(); r.ID == id {
			return r, true
		}
	}
	return nil, false
}

func (k *kept) read() *Receipt {
	if k.verdicts == nil {
		k.verdicts = new(verdicts)
	}
	record, r := k.record, new(Receipt)
	record.read(whole, unsafe.Pointer(r))
	r.verdicts = k.verdicts
	return r
}

// Rings are every tenant's Ring. They outlive configurations. Safe for concurrent use.
type Rings struct {
	keep int // receipts a tenant

	mu    sync.Mutex
	rings map[string]*Ring // by tenant; guarded by mu
}

// NewRings returns Rings that keep so many receipts of each tenant.
func NewRings(keep int) *Rings { return &Rings{keep: keep, rings: map[string]*Ring{}} }

// Of returns a tenant's.
func (rs *Rings) Of(tenant string) *Ring {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	g := rs.rings[tenant]
	if g == nil {
		g = NewRing(rs.keep)
		rs.rings[tenant] = g
	}
	return g
}

// Find returns the tenant's receipt of that id, as Ring.Find does. It finds no receipt of another tenant.
func (rs *Rings) Find(tenant, id string) (*Receipt, bool) {
	rs.mu.Lock()
	g := rs.rings[tenant]
	rs.mu.Unlock()
	if g == nil {
		return nil, false
	}
	return g.Find(id)
}

// Search returns any tenant's receipt of that id, as Ring.Find does.
func (rs *Rings) Search(id string) (*Receipt, bool) {
	rs.mu.Lock()
	rings := slices.Collect(maps.Values(rs.rings))
	rs.mu.Unlock()
	for _, g := range rings { // at most one tenant has it
		if r, ok := g.Find(id); ok {
			return r, true
		}
	}
	return nil, false
}
