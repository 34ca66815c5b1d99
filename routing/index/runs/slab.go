package runs

import (
	"sync/atomic"
	"unsafe"

	"octet/routing/index"
)

// budget is the account of what an Indexer has mapped. What it keeps on the heap (tier maps) is charged by estimate.
type budget struct {
	account *index.Account
	limit   int64
	all     []pages // to unmap in the end
}

// takeHeap charges n bytes of the heap. It returns false if the limit does not allow them.
func (m *budget) takeHeap(n int64) bool { return m.account.Charge(n, m.limit) }

// takeMapped charges n mapped bytes. It leaves a sixteenth of the limit to the heap.
func (m *budget) takeMapped(n int64) bool { return m.account.Charge(n, m.mappedLimit()) }

func (m *budget) mappedLimit() int64 { return m.limit - m.limit/16 }

// spares returns true if n bytes could be mapped once back bytes were given back.
func (m *budget) spares(n, back int64) bool {
	return m.account.Fits(n-back, m.mappedLimit())
}

func (m *budget) giveBack(n int64) { m.account.Charge(-n, m.limit) }

// release unmaps everything.
func (m *budget) release() {
	for _, p := range m.all {
		p.unmap()
	}
	m.all = nil
}

// slab is an array that grows by chunks which never move, so that readers need no lock to follow an index into it.
type slab struct {
	dir  atomic.Pointer[[]unsafe.Pointer]
	mem  *budget
	size int // bytes of a chunk
	maps []pages
}

func newSlab(m *budget, size int) *slab {
	s := &slab{mem: m, size: size}
	s.dir.Store(&[]unsafe.Pointer{})
	return s
}

// extend adds a chunk and charges for it, unless the limit or the system refuses. charge is what it counts for.
func (s *slab) extend(charge int64) bool {
	if !s.mem.takeMapped(charge) {
		return false
	}
	p, err := mapPages(s.size)
	if err != nil {
		s.mem.giveBack(charge)
		return false
	}
	s.mem.all, s.maps = append(s.mem.all, p), append(s.maps, p)
	old := *s.dir.Load()
	dir := append(make([]unsafe.Pointer, 0, len(old)+1), old...)
	dir = append(dir, p.base)
	s.dir.Store(&dir)
	return true
}

func (s *slab) chunks() int { return len(*s.dir.Load()) }
