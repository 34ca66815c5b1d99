package runs

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// runTree is the block index proper: who holds which block, in runs. It knows nothing of tiers, order or life.
//
// One writer at a time, under mu. Readers take no lock; see descend.
type runTree struct {
	// What readers follow, which never changes: on a cache line that nobody writes.
	mem    *memory
	runs   *slab
	arrays *slab  // that of words
	heads  *table // first block of a run → the run: the only one that readers probe
	full   *table // block → the run and its offset there
	_      [64]byte

	mu    sync.RWMutex
	words words
	top   uint32 // run ids below it have been handed out; 0 never is
	// ids below top that are free; who was evicted last is used first, so that what is new lies behind the hand
	unused  []uint32
	walks   int      // sweeps under way
	again   []uint32 // runs that came while there were any
	live    int      // runs
	entries int      // distinct blocks
	held    [index.MaxHosts]int
	refused uint64 // blocks that were not recorded for want of room
	evicted uint64 // blocks that were forgotten to make room
	hand    uint32 // the run that eviction came to last
	looks   uint32 // of the hand, in this op
	pinned  uint32 // a run that is being worked on; 0 is none
	before  uint64 // evicted when this op began
	locked  uint64 // times that mu was taken for a batch

	spare []*shape
	gaps  []stretch
	lost  [index.MaxHosts]int

	parted func(h index.HostID, blocks []kvpool.BlockHash) // is told what h is not known to hold any more for want of room
}

// spareIDs is how many run ids are free before a change begins: more than any change takes.
const spareIDs = 2 * index.MaxHosts

func newRunTree(a *index.Account) *runTree {
	t := &runTree{mem: &memory{account: a, limit: a.Limit()}, top: 1, parted: func(index.HostID, []kvpool.BlockHash) {}}
	t.runs = newSlab(t.mem, runSize<<runBits)
	t.words = newWords(t.mem)
	t.arrays = t.words.slab
	t.heads = newTable(nil, 2, func(e uint64) uint64 { return t.at(entryID(e)).first * index.Golden })
	t.full = newTable(t.mem, 5, func(e uint64) uint64 { return t.hashAt(entryID(e), entryOff(e)) * index.Golden })
	runtime.AddCleanup(t, (*memory).release, t.mem)
	return t
}

// hashAt returns the hash of a run's block.
func (t *runTree) hashAt(id uint32, off int) uint64 {
	return *(*uint64)(wordAt(*t.words.dir.Load(), t.at(id).words+uint32(off)))
}

// borrow returns a shape to work with until giveBack.
func (t *runTree) borrow() *shape {
	if n := len(t.spare); n > 0 {
		s := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return s
	}
	return &shape{}
}

// giveBack takes a shape back: it is the writer's, who holds mu, and no reader's.
func (t *runTree) giveBack(s *shape) { t.spare = append(t.spare, s) }

// room makes sure that a change of a run of n blocks finds the memory that it takes, into however many it is cut.
func (t *runTree) room(n int) bool { return t.words.room(2*n+4*maxIsles) && t.idRoom() }

// idRoom makes sure that there are headers enough for any one change. The table of heads is paid for with them.
func (t *runTree) idRoom() bool {
	spare := func() bool { return t.runs.chunks()<<runBits-int(t.top)+len(t.unused) >= spareIDs }
	if spare() {
		return true
	}
	if t.runs.chunks() == 1<<(32-runBits) {
		return t.evict(index.HostBitmap{}, spare)
	}
	charge := int64(t.runs.size) + int64(t.runs.size)/8
	return t.runs.extend(charge) || t.makeWay(charge) && t.runs.extend(charge) || t.evict(index.HostBitmap{}, spare)
}

// find returns where b is; id 0 when it is nowhere.
func (t *runTree) find(b kvpool.BlockHash) (id uint32, off int) {
	search := t.full.probe(mix(b))
	for e := search.next(); e != 0; e = search.next() {
		if id, off = entryID(e), entryOff(e); t.hashAt(id, off) == uint64(b) {
			return id, off
		}
	}
	return 0, 0
}

// open makes a run of hashes. It is not a head yet.
func (t *runTree) open(capacity int) (id uint32, r *run) {
	if n := len(t.unused); n > 0 {
		id = t.unused[n-1]
		t.unused = t.unused[:n-1]
	} else {
		id = t.top
		t.top++
	}
	if t.walks > 0 {
		t.again = append(t.again, id)
	}
	r = t.at(id)
	class := int(classOf[capacity])
	put32(&r.words, t.words.take(class))
	r.meta = meta(class) << 24
	t.live++
	return id, r
}

// crown makes the run known by its first block, so that readers find it.
func (t *runTree) crown(id uint32, r *run) {
	p := r.first * index.Golden
	if !t.heads.room(p) {
		panic(fmt.Sprintf("index: out of memory: no room for %d runs", t.heads.count()+1))
	}
	t.heads.insert(p, newEntry(p, id, 0))
}

// free takes a run that nobody holds, and whose blocks are in no table any more, out of the index.
func (t *runTree) free(id uint32, r *run) {
	p := r.first * index.Golden
	t.heads.remove(p, newEntry(p, id, 0))
	t.close(id, r)
}

// close takes a run's header and arrays back. What readers see of those from now on they throw away, for its seq has
// gone on.
func (t *runTree) close(id uint32, r *run) {
	m := r.meta
	atomic.AddUint32(&r.seq, 1)
	put64((*uint64)(&r.meta), 0)
	atomic.AddUint32(&r.seq, 1)
	t.words.put(r.words, m.class())
	if m.isles() > 0 {
		t.words.put(r.isles, m.islesClass())
	}
	t.unused = append(t.unused, id)
	t.live--
}

// forget takes blocks [from, to) of a run out of the table.
func (t *runTree) forget(id uint32, r *run, from, to int) {
	for blocks := t.words.array(r.words, to)[from:]; len(blocks) > 0; {
		n := min(len(blocks), 32)
		t.full.touch(blocksOf(blocks[:n]))
		for _, b := range blocks[:n] {
			p := b * index.Golden
			t.full.remove(p, newEntry(p, id, from))
			from++
		}
		blocks = blocks[n:]
		t.entries -= n
	}
}

// each passes every run and its shape to visit.
func (t *runTree) each(visit func(r *run, s *shape)) {
	s := &shape{}
	for id := uint32(1); id < t.top; id++ {
		if r := t.at(id); r.meta.len() > 0 {
			t.read(r, s)
			visit(r, s)
		}
	}
}
