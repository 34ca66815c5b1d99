package runs

import (
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// patrol is how many ids the hand may pass before the next run goes whether or not it is in use. After sixteen times as
// many it rests until the next op.
const scanLimit = 512

// How often a run that is in use outlives the hand's coming by.
const (
	useShared = 1 // a replica stored it when it was known already
	useEnded  = 1 // a query's prompt ended in it, or parted from it
	usePassed = 2 // a query's prompt went on after it, or a new run did: beginnings outlive what follows them
)

// evictor makes room by evicting runs. Owned by the writer.
type evictor struct {
	storage

	held [index.MaxHosts]int // blocks of each host
	lost [index.MaxHosts]int // scratch
	// is called for blocks that h is not known to hold any more because there was no room
	onForgotten func(h index.HostID, blocks []kvpool.BlockHash)

	evicted       uint64 // blocks that were removed to make room
	hand          uint32 // the run that the clock came to last
	handSteps     uint32 // of the hand, in this op
	pinned        uint32 // a run that is being worked on; 0 if there is none
	evictedBefore uint64 // evicted when this op began
}

// spareHeaders is how many run ids are free before a change begins: more than any change takes.
const spareHeaders = 2 * index.MaxHosts

// enter is called before each op.
func (e *evictor) beginOp() { e.handSteps, e.pinned, e.evictedBefore = 0, 0, e.evicted }

// lossy reports whether something had to be forgotten in this op.
func (e *evictor) evictedInOp() bool { return e.evicted != e.evictedBefore }

// evict makes room: a hand goes round the runs in the order of their ids, takes one off the use of each that it comes
// to, and has those of no use forgotten, until enough holds. It reports whether that came to hold before the hand had
// been round once for this op. The pinned run is never forgotten; with a set of hosts, neither is what none of them
// holds.
func (e *evictor) evict(hosts index.HostBitmap, enough func() bool) bool {
	for e.victim(hosts) {
		e.evictRun(e.hand)
		if enough() {
			return true
		}
	}
	return false
}

// victim moves the hand to the next run to forget, if it is not far.
func (e *evictor) victim(hosts index.HostBitmap) bool {
	for n := 1; n <= 16*scanLimit && e.handSteps < e.top && e.live > 0; n++ {
		e.handSteps++
		if e.hand++; e.hand >= e.top {
			e.hand = 1
		}
		r := e.at(e.hand)
		if r.meta.len() == 0 || e.hand == e.pinned || !hosts.Empty() && !e.heldByAny(r, hosts) {
			continue
		}
		if r.meta.use() == 0 || n > scanLimit {
			return true
		}
		e.setUse(r, r.meta.use()-1)
	}
	return false
}

// concerns reports whether one of hosts holds a block of r.
func (st *storage) heldByAny(r *run, hosts index.HostBitmap) bool {
	s := st.borrowHolders()
	defer st.returnHolders(s)
	st.read(r, s)
	return s.heldByAny(hosts)
}

// discard forgets a run, whoever holds it.
func (e *evictor) evictRun(id uint32) {
	r, s := e.at(id), e.borrowHolders()
	defer e.returnHolders(s)
	e.read(r, s)
	blocks := blocksOf(e.hashes(r))
	s.each(func(h index.HostID, from, to int) {
		e.forgetBlocks(h, blocks[from:to])
	})
	e.evicted += uint64(s.len)
	e.unlink(id, r, 0, s.len)
	e.retire(id, r)
}

// use sets how often r outlives the hand. A reader that does so too may win.
func (e *evictor) setUse(r *run, n int) {
	put64((*uint64)(&r.meta), uint64(r.meta&^useMask)|uint64(n)<<useShift)
}

// mark is what a reader does that saw m: once for each time that the hand comes by, so that readers seldom write. Who
// meets somebody else there leaves it.
func (r *run) mark(m meta, n int) {
	atomic.CompareAndSwapUint64((*uint64)(&r.meta), uint64(m), uint64(m&^useMask|meta(n)<<useShift))
}

// keep sees to it that r outlives the hand at least n times.
func (e *evictor) protect(r *run, n int) {
	if r.meta.use() < n {
		e.setUse(r, n)
	}
}

// space makes sure that one array of n words can be handed out. Where as much as that had to be forgotten for it and is
// in pieces, it reports false.
func (e *evictor) arrayRoom(n int) bool {
	if e.arena.canAllocate(n) || forgets && e.arena.fragmented() && e.emptyChunk(e.arena.nextToEmpty()) && e.arena.canAllocate(n) {
		return true
	}
	enough := e.evicted + uint64(n)
	return e.evict(index.HostBitmap{}, func() bool { return e.arena.canAllocate(n) || e.evicted >= enough }) && e.arena.canAllocate(n)
}

// entryRoom makes sure that the table takes one more block.
func (e *evictor) tableRoom(p uint64) bool {
	return e.blocks.room(p) || e.evict(index.HostBitmap{}, func() bool { return e.blocks.room(p) })
}

// take charges n bytes for what is kept elsewhere of blocks that one of hosts holds.
func (e *evictor) chargeHeap(n int64, hosts func() index.HostBitmap) bool {
	if e.mem.takeHeap(n) {
		return true
	}
	of := hosts()
	return !of.Empty() && e.evict(of, func() bool { return e.mem.takeHeap(n) })
}

// room makes sure that a change of a run of n blocks finds the memory that it takes, into however many it is cut.
func (e *evictor) changeRoom(n int) bool {
	return e.arena.reserve(2*n+4*maxFragments) && e.headerRoom()
}

// idRoom makes sure that there are headers enough for any one change. The table of heads is paid for with them.
func (e *evictor) headerRoom() bool {
	spare := func() bool { return e.runs.chunks()<<runBits-int(e.top)+len(e.freeIDs) >= spareHeaders }
	if spare() {
		return true
	}
	if e.runs.chunks() == 1<<(32-runBits) {
		return e.evict(index.HostBitmap{}, spare)
	}
	charge := int64(e.runs.size) + int64(e.runs.size)/8
	return e.runs.extend(charge) || e.compact(charge) && e.runs.extend(charge) || e.evict(index.HostBitmap{}, spare)
}

// lose notes that h is not known to hold blocks any more.
func (e *evictor) forgetBlocks(h index.HostID, blocks []kvpool.BlockHash) {
	e.held[h] -= len(blocks)
	e.onForgotten(h, blocks)
}

// charge takes what was lost off what is held.
func (e *evictor) countLost() {
	for h, n := range e.lost {
		e.held[h] -= n
	}
}
