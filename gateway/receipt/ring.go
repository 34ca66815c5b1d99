package receipt

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// Ring keeps the newest receipts of one tenant. Safe for concurrent use.
type Ring struct {
	keep    int      // receipts
	tenant  string   // whose they are
	archive *Archive // nil: none is written to a Store

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
	at := g.add(key, r)
	if g.archive != nil {
		g.archive.offer(reference{g, at})
	}
}

// add keeps a copy of r, and returns how many receipts were put before it.
func (g *Ring) add(key uint64, r *Receipt) (at int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newest().add(key, r)
	at = g.put
	g.put++
	if oldest := g.pages[0]; oldest.first+len(oldest.entries) <= g.put-g.keep {
		oldest.reset()
		g.pages, g.spare = slices.Delete(g.pages, 0, 1), oldest
	}
	return at
}

// at returns the receipt before which so many were put, with its verdicts; false if it is kept no more.
func (g *Ring) at(n int) (*Receipt, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n < g.put-g.keep {
		return nil, false
	}
	for _, p := range g.pages {
		if i := n - p.first; i >= 0 && i < len(p.entries) {
			return g.readAt(p, i), true
		}
	}
	return nil, false
}

// readAt returns a receipt of a page. Under mu.
func (g *Ring) readAt(p *page, i int) *Receipt {
	r := p.read(i)
	if g.archive != nil && r.verdicts.of.ring == nil {
		r.verdicts.of = reference{g, p.first + i}
	}
	return r
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
			if r := g.readAt(p, i); r.ID == id {
				return r, true
			}
		}
	}
	return nil, false
}

// Rings are every tenant's Ring. They outlive configurations. Safe for concurrent use.
type Rings struct {
	keep    int      // receipts a tenant
	archive *Archive // nil if there is none

	mu    sync.Mutex
	rings map[string]*Ring // by tenant; guarded by mu
}

// NewRings returns Rings that keep so many receipts of each tenant.
func NewRings(keep int) *Rings { return NewArchivedRings(keep, nil) }

// NewArchivedRings is NewRings with an Archive, into which all receipts go as well; nil for none.
func NewArchivedRings(keep int, a *Archive) *Rings {
	return &Rings{keep: keep, archive: a, rings: map[string]*Ring{}}
}

// Of returns a tenant's.
func (rs *Rings) Of(tenant string) *Ring {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	g := rs.rings[tenant]
	if g == nil {
		g = NewRing(rs.keep)
		g.tenant, g.archive = tenant, rs.archive
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
	_, r, ok := rs.search(id)
	return r, ok
}

// Lookup returns any tenant's receipt of that id, in memory or archived, and whose it is; false if there is none.
func (rs *Rings) Lookup(id string) (tenant string, r *Receipt, ok bool) {
	if tenant, r, ok = rs.search(id); ok {
		return tenant, r, true
	}
	return rs.Past(id)
}

// search returns the receipt of that id that is in memory, and whose it is.
func (rs *Rings) search(id string) (tenant string, r *Receipt, ok bool) {
	rs.mu.Lock()
	rings := maps.Clone(rs.rings)
	rs.mu.Unlock()
	for tenant, g := range rings { // at most one tenant has it
		if r, ok := g.Find(id); ok {
			return tenant, r, true
		}
	}
	return "", nil, false
}

// Past returns the archived receipt of that id, and whose it is; false if there is none. It takes no verdicts any more.
func (rs *Rings) Past(id string) (tenant string, r *Receipt, ok bool) {
	if rs.archive == nil {
		return "", nil, false
	}
	return rs.archive.find(id)
}
