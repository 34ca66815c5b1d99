package receipt

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// Ring keeps the newest receipts of one tenant. Safe for concurrent use.
type Ring struct {
	keep int // receipts

	mu    sync.Mutex
	pages []*page // oldest first; guarded by mu like all below
	put   int     // receipts, ever
	spare *page   // empty, or nil
}

// seed makes keys of ids.
var seed = maphash.MakeSeed()

// NewRing returns a Ring of at most keep receipts, and at least one.
func NewRing(keep int) *Ring { return &Ring{keep: max(keep, 1)} }

// Put keeps a copy of r. The oldest receipt makes room.
func (g *Ring) Put(r *Receipt) {
	key := maphash.String(seed, r.ID)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newest().add(key, r)
	g.put++
	if oldest := g.pages[0]; oldest.first+len(oldest.entries) <= g.put-g.keep {
		oldest.reset()
		g.pages, g.spare = slices.Delete(g.pages, 0, 1), oldest
	}
}

// newest returns the page that is written.
func (g *Ring) newest() *page {
	if n := len(g.pages); n > 0 && !g.pages[n-1].full() {
		return g.pages[n-1]
	}
	p := g.spare
	if g.spare = nil; p == nil {
		p = new(page)
	}
	p.first = g.put
	g.pages = append(g.pages, p)
	return p
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
	for _, p := range g.pages {
		for i := max(0, g.put-g.keep-p.first); i < len(p.entries); i++ {
			if p.entries[i].key != key {
				continue
			}
			if r := p.read(i); r.ID == id {
				return r, true
			}
		}
	}
	return nil, false
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
