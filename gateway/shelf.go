package gateway

import (
	"maps"
	"slices"
	"sync"

	"octet/internal/poison"
)

// receipts keeps the newest receipts of every tenant.
type receipts struct {
	mu    sync.Mutex
	keep  int              // a tenant
	rings map[string]*ring // by tenant
}

func newReceipts(keep int) *receipts { return &receipts{keep: max(keep, 1), rings: map[string]*ring{}} }

// ring returns those of the tenant of that name, which outlive configurations.
func (rs *receipts) ring(tenant string) *ring {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	g := rs.rings[tenant]
	if g == nil {
		g = &ring{keep: rs.keep}
		rs.rings[tenant] = g
	}
	return g
}

// find returns the tenant's receipt of that id, nil when there is none (any more): another tenant's is none.
func (rs *receipts) find(tenant, id string) *Receipt {
	rs.mu.Lock()
	g := rs.rings[tenant]
	rs.mu.Unlock()
	if g == nil {
		return nil
	}
	return g.find(id)
}

// search returns any tenant's receipt of that id, nil when there is none (any more).
func (rs *receipts) search(id string) *Receipt {
	rs.mu.Lock()
	rings := slices.Collect(maps.Values(rs.rings))
	rs.mu.Unlock()
	for _, g := range rings { // an id is one tenant's
		if r := g.find(id); r != nil {
			return r
		}
	}
	return nil
}

// ring holds one tenant's receipts, the oldest of which makes room. A receipt is a few hundred bytes behind those of
// the one before it: whoever writes it meets no memory but what comes next, and the collector has nothing to look at.
type ring struct {
	keep  int
	mu    sync.Mutex
	slots []slot // grows to keep, then wraps; guarded by mu like all below
	next  int
	pages []*page // that hold them, in the order of their numbers
	first uint32  // the number of pages[0]
	spare *page
	said  map[int]*verdicts // by slot
}

// slot is where a receipt is, and what is known of it without looking there.
type slot struct {
	key uint64 // keyOf its id
	at  uint64 // number of the page << 32 | offset
}

// page is memory for receipts.
type page struct {
	text []byte
	held int       // receipts
	last int       // where the last of them begins
	refs []legRefs // that they refer to
}

// The size of a page: a ring's first, and what others double to.
const (
	leastPage = 4 << 10
	mostPage  = 64 << 10
)

// keyOf is what an id is found by: the first digits of ours, which are random.
func keyOf(id string) (key uint64) {
	if len(id) >= 8 {
		return uint64(id[0]) | uint64(id[1])<<8 | uint64(id[2])<<16 | uint64(id[3])<<24 |
			uint64(id[4])<<32 | uint64(id[5])<<40 | uint64(id[6])<<48 | uint64(id[7])<<56
	}
	for i := range len(id) {
		key = key<<8 | uint64(id[i])
	}
	return key
}

// put stores what can be told of r.
func (g *ring) put(r *Receipt) {
	key := keyOf(r.ID)
	g.mu.Lock()
	defer g.mu.Unlock()
	i := g.slot()
	p := g.write(r)
	g.slots[i] = slot{key, uint64(g.first+uint32(len(g.pages)-1))<<32 | uint64(p.last)}
	if r.verdicts != nil {
		g.tie(i, r.verdicts)
	}
}

// write writes r on the newest page that has room for it, and returns that.
func (g *ring) write(r *Receipt) *page {
	if n := len(g.pages); n > 0 {
		if p := g.pages[n-1]; p.write(r) {
			return p
		}
	}
	p := g.page(0)
	if !p.write(r) { // longer than a page
		p = g.page(len(r.appendTo(nil)) + 2 + 2*len(r.refs))
		p.write(r)
	}
	return p
}

// write writes r behind the receipts that p holds; false, and nothing, where there is no room.
func (p *page) write(r *Receipt) bool {
	if len(p.refs) > mostRefs {
		return false
	}
	begin := len(p.text)
	room := p.text[begin:begin:cap(p.text)]
	b := le.AppendUint16(room, uint16(len(r.refs)))
	for i := range r.refs {
		b = le.AppendUint16(b, p.ref(&r.refs[i]))
	}
	b = r.appendTo(b)
	if len(b) > cap(room) {
		return false
	}
	p.text, p.last = p.text[:begin+len(b)], begin
	p.held++
	if end := len(p.text); end < cap(p.text) {
		ahead(&p.text[:end+1][end]) // where the next one goes
	}
	return true
}

// slot returns a slot that holds nothing any more.
func (g *ring) slot() int {
	if len(g.slots) < g.keep {
		g.slots = append(g.slots, slot{})
		return len(g.slots) - 1
	}
	i := g.next
	if g.next++; g.next == g.keep {
		g.next = 0
	}
	if len(g.said) > 0 {
		delete(g.said, i)
	}
	p := g.pages[0] // what is oldest is in the oldest
	if p.held--; p.held == 0 {
		g.retire(p)
	}
	return i
}

// retire makes the oldest page, which holds nothing any more, one that may be used again: all that is read of it is
// read, and copied, under mu.
func (g *ring) retire(p *page) {
	clear(p.refs)
	poison.Bytes(p.text)
	p.text, p.refs = p.text[:0], p.refs[:0]
	if len(g.pages) == 1 {
		return // it goes on as the newest
	}
	clear(g.pages[:1])
	g.pages = g.pages[1:]
	g.first++
	if cap(p.text) == mostPage {
		g.spare = p
	}
}

// page adds a page, of at least n bytes. A newest one that holds nothing gives way to it.
func (g *ring) page(n int) *page {
	size := leastPage
	if last := len(g.pages) - 1; last >= 0 {
		size = min(2*cap(g.pages[last].text), mostPage)
		if g.pages[last].held == 0 {
			g.pages = g.pages[:last]
		}
	}
	p := g.spare
	if p == nil || n > mostPage {
		p = &page{text: make([]byte, 0, max(size, n))}
	} else {
		g.spare = nil
	}
	g.pages = append(g.pages, p)
	return p
}

// mostRefs bounds what the receipts of a page refer to; there is one for a specialist and a configuration.
const mostRefs = 1 << 10

// ref returns the number of what p's receipts refer to.
func (p *page) ref(r *legRefs) uint16 {
	for i := range p.refs {
		if p.refs[i] == *r {
			return uint16(i)
		}
	}
	p.refs = append(p.refs, *r)
	return uint16(len(p.refs) - 1)
}

// tie has the verdicts on the receipt of a slot found with it.
func (g *ring) tie(i int, v *verdicts) {
	if g.said == nil {
		g.said = map[int]*verdicts{}
	}
	g.said[i] = v
}

// find returns the receipt of that id, in full; nil when there is none.
func (g *ring) find(id string) *Receipt {
	r := g.look(id)
	if r != nil {
		r.Outcomes = r.verdicts.all()
		r.tell()
	}
	return r
}

// look returns the receipt of that id, still to be told.
func (g *ring) look(id string) *Receipt {
	key := keyOf(id)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.slots {
		if g.slots[i].key != key {
			continue
		}
		if r := g.read(i); r.ID == id {
			return r
		}
	}
	return nil
}

// read returns the receipt of a slot. What is said of it from now on is known to all who have it.
func (g *ring) read(i int) *Receipt {
	at := g.slots[i].at
	p := g.pages[uint32(at>>32)-g.first]
	facts := pen{p.text[uint32(at):]}
	refs := make([]legRefs, le.Uint16(facts.take(2)))
	for j := range refs {
		refs[j] = p.refs[le.Uint16(facts.take(2))]
	}
	r := readReceipt(facts.b, refs)
	if r.verdicts = g.said[i]; r.verdicts == nil {
		r.verdicts = new(verdicts)
		g.tie(i, r.verdicts)
	}
	return r
}
