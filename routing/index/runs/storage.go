package runs

import (
	"fmt"
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// storage is where runs lie: their headers, the arrays of their hashes, and the tables that find them. It knows nothing
// of holders but what a header has. Owned by the writer.
type storage struct {
	view   // what readers follow
	mem    *budget
	blocks *hashtable // block → the run and its offset there
	_      [64]byte   // what follows is written all the time

	arena arena
	top   uint32 // run ids below it have been handed out; 0 never is
	// ids below top that are free; the last one freed is used first, so that new runs lie behind the hand
	freeIDs      []uint32
	sweeps       int      // sweeps under way
	addedInSweep []uint32 // runs that were made while there were any
	live         int      // runs
	entries      int      // distinct blocks

	spareHolders []*holders
}

// hashAt returns the hash of a run's block.
func (st *storage) hashAt(id uint32, off int) uint64 {
	return *(*uint64)(wordAt(*st.arena.dir.Load(), st.at(id).hashes+uint32(off)))
}

// borrowHolders returns scratch holders to work with until returnHolders.
func (st *storage) borrowHolders() *holders {
	if n := len(st.spareHolders); n > 0 {
		s := st.spareHolders[n-1]
		st.spareHolders = st.spareHolders[:n-1]
		return s
	}
	return &holders{}
}

// returnHolders takes scratch holders back. They are the writer's alone, under mu, so they can be used again.
func (st *storage) returnHolders(s *holders) { st.spareHolders = append(st.spareHolders, s) }

// find returns where b is; id 0 if it is in no run.
func (st *storage) find(b kvpool.BlockHash) (id uint32, off int) {
	search := st.blocks.probe(mix(b))
	for e := search.next(); e != 0; e = search.next() {
		if id, off = entryID(e), entryOff(e); st.hashAt(id, off) == uint64(b) {
			return id, off
		}
	}
	return 0, 0
}

// allocate makes a run with room for capacity hashes. It is not in the table of heads yet.
func (st *storage) allocate(capacity int) (id uint32, r *run) {
	if n := len(st.freeIDs); n > 0 {
		id = st.freeIDs[n-1]
		st.freeIDs = st.freeIDs[:n-1]
	} else {
		id = st.top
		st.top++
	}
	if st.sweeps > 0 {
		st.addedInSweep = append(st.addedInSweep, id)
	}
	r = st.at(id)
	class := int(classOf[capacity])
	put32(&r.hashes, st.arena.allocate(class))
	r.meta = meta(class) << 24
	st.live++
	return id, r
}

// addHead puts the run's first block into the table of heads, where readers find it.
func (st *storage) addHead(id uint32, r *run) {
	p := r.first * index.Golden
	if !st.heads.room(p) {
		panic(fmt.Sprintf("index: out of memory: no room for %d runs", st.heads.count()+1))
	}
	st.heads.insert(p, newEntry(p, id, 0))
}

// retire removes a run without holders, whose blocks are in no table any more.
func (st *storage) retire(id uint32, r *run) {
	p := r.first * index.Golden
	st.heads.remove(p, newEntry(p, id, 0))
	st.release(id, r)
}

// release frees a run's header and arrays. Readers discard what they see of those from now on, because its seq has gone
// on.
func (st *storage) release(id uint32, r *run) {
	m := r.meta
	atomic.AddUint32(&r.seq, 1)
	put64((*uint64)(&r.meta), 0)
	atomic.AddUint32(&r.seq, 1)
	st.arena.free(r.hashes, m.class())
	if m.fragments() > 0 {
		st.arena.free(r.fragments, m.fragmentsClass())
	}
	st.freeIDs = append(st.freeIDs, id)
	st.live--
}

// unlink removes blocks [from, to) of a run from the table.
func (st *storage) unlink(id uint32, r *run, from, to int) {
	for blocks := st.arena.array(r.hashes, to)[from:]; len(blocks) > 0; {
		n := min(len(blocks), 32)
		st.blocks.prefetch(blocksOf(blocks[:n]))
		for _, b := range blocks[:n] {
			p := b * index.Golden
			st.blocks.remove(p, newEntry(p, id, from))
			from++
		}
		blocks = blocks[n:]
		st.entries -= n
	}
}

// each calls visit for every run and its holders.
func (st *storage) each(visit func(r *run, s *holders)) {
	s := &holders{}
	for id := uint32(1); id < st.top; id++ {
		if r := st.at(id); r.meta.len() > 0 {
			st.read(r, s)
			visit(r, s)
		}
	}
}
