package runs

import (
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// scanLimit is how many ids the hand may pass before the next run is evicted whether or not it is in use. After sixteen
// times as many it rests until the next op.
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
	pinned        uint32 // a run that is being worked on; 0 while no run is
	evictedBefore uint64 // evicted when this op began
}

// spareHeaders is how many run ids are free before a change begins: more than any change takes.
const spareHeaders = 2 * index.MaxHosts

// beginOp is called before each op.
func (e *evictor) beginOp() { e.handSteps, e.pinned, e.evictedBefore = 0, 0, e.evicted }

// evictedInOp returns true if something was evicted in this op.
func (e *evictor) evictedInOp() bool { return e.evicted != e.evictedBefore }

// evict makes room. A clock hand goes round the runs in the order of their ids, lowers the use of each, and evicts
// those whose use is 0, until enough returns true. It returns false if the hand has been round once for this op before
// that. The pinned run is never evicted; with a set of hosts, neither is a run that none of them holds.
func (e *evictor) evict(hosts index.HostBitmap, enough func() bool) bool {
	for e.victim(hosts) {
		e.evictRun(e.hand)
		if enough() {
			return true
		}
	}
	return false
}

// victim moves the hand to the next run to evict, if it is not far.
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

// heldByAny returns true if one of hosts holds a block of r.
func (st *storage) heldByAny(r *run, hosts index.HostBitmap) bool {
	s := st.borrowHolders()
	defer st.returnHolders(s)
	st.read(r, s)
	return s.heldByAny(hosts)
}

// evictRun removes a run and all that is known of its holders.
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

// setUse sets how often r survives the hand. A reader that does the same at that moment may win.
func (e *evictor) setUse(r *run, n int) {
	put64((*uint64)(&r.meta), uint64(r.meta&^useMask)|uint64(n)<<useShift)
}

// mark raises the use of a run that a reader found with meta m: once for each round of the hand, so that readers seldom
// write. If the word has changed meanwhile, it is left alone.
func (r *run) mark(m meta, n int) {
	atomic.CompareAndSwapUint64((*uint64)(&r.meta), uint64(m), uint64(m&^useMask|meta(n)<<useShift))
}

// protect makes sure that r survives the hand at least n times.
func (e *evictor) protect(r *run, n int) {
	if r.meta.use() < n {
		e.setUse(r, n)
	}
}

// arrayRoom makes sure that an array of n words can be allocated. It returns false if as much as that was evicted for
// it and lies in pieces.
func (e *evictor) arrayRoom(n int) bool {
	if e.arena.canAllocate(n) || forgets && e.arena.fragmented() && e.emptyChunk(e.arena.nextToEmpty()) &&
		e.arena.canAllocate(n) {
		return true
	}
	enough := e.evicted + uint64(n)
	return e.evict(index.HostBitmap{}, func() bool { return e.arena.canAllocate(n) || e.evicted >= enough }) &&
		e.arena.canAllocate(n)
}

// tableRoom makes sure that the table takes one more block.
func (e *evictor) tableRoom(p uint64) bool {
	return e.blocks.room(p) || e.evict(index.HostBitmap{}, func() bool { return e.blocks.room(p) })
}

// chargeHeap charges n bytes for what is kept elsewhere of blocks that one of hosts holds.
func (e *evictor) chargeHeap(n int64, hosts func() index.HostBitmap) bool {
	if e.mem.takeHeap(n) {
		return true
	}
	of := hosts()
	return !of.Empty() && e.evict(of, func() bool { return e.mem.takeHeap(n) })
}

// changeRoom makes sure that a change of a run of n blocks finds the memory that it takes, into however many runs it is
// cut.
func (e *evictor) changeRoom(n int) bool {
	return e.arena.reserve(2*n+4*maxFragments) && e.headerRoom()
}

// headerRoom makes sure that there are headers enough for any one change. The table of heads is paid for with them.
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

// forgetBlocks notes that h is not known to hold blocks any more.
func (e *evictor) forgetBlocks(h index.HostID, blocks []kvpool.BlockHash) {
	e.held[h] -= len(blocks)
	e.onForgotten(h, blocks)
}

// countLost subtracts lost from held.
func (e *evictor) countLost() {
	for h, n := range e.lost {
		e.held[h] -= n
	}
}
