package runs

import (
	"sync/atomic"

	"octet/routing/index"
)

// patrol is how many ids the hand may pass before the next run goes whether or not it is in use. After sixteen times as
// many it rests until the next op.
const patrol = 512

// How often a run that is in use outlives the hand's coming by.
const (
	shared = 1 // a replica stored it when it was known already
	ended  = 1 // a query's prompt ended in it, or parted from it
	passed = 2 // a query's prompt went on after it, or a new run did: beginnings outlive what follows them
)

// enter is called before each op.
func (t *runTree) enter() { t.looks, t.pinned, t.before = 0, 0, t.evicted }

// lossy reports whether something had to be forgotten in this op.
func (t *runTree) lossy() bool { return t.evicted != t.before }

// evict makes room: a hand goes round the runs in the order of their ids, takes one off the use of each that it comes
// to, and has those of no use forgotten, until enough holds. It reports whether that came to hold before the hand had
// been round once for this op. The pinned run is never forgotten; with a set of hosts, neither is what none of them
// holds.
func (t *runTree) evict(hosts index.HostBitmap, enough func() bool) bool {
	for t.victim(hosts) {
		t.discard(t.hand)
		if enough() {
			return true
		}
	}
	return false
}

// victim moves the hand to the next run to forget, if it is not far.
func (t *runTree) victim(hosts index.HostBitmap) bool {
	for n := 1; n <= 16*patrol && t.looks < t.top && t.live > 0; n++ {
		t.looks++
		if t.hand++; t.hand >= t.top {
			t.hand = 1
		}
		r := t.at(t.hand)
		if r.meta.len() == 0 || t.hand == t.pinned || !hosts.Empty() && !t.concerns(r, hosts) {
			continue
		}
		if r.meta.use() == 0 || n > patrol {
			return true
		}
		t.use(r, r.meta.use()-1)
	}
	return false
}

// concerns reports whether one of hosts holds a block of r.
func (t *runTree) concerns(r *run, hosts index.HostBitmap) bool {
	s := t.borrow()
	defer t.giveBack(s)
	t.read(r, s)
	return s.any(hosts)
}

// discard forgets a run, whoever holds it.
func (t *runTree) discard(id uint32) {
	r, s := t.at(id), t.borrow()
	defer t.giveBack(s)
	t.read(r, s)
	blocks := blocksOf(t.hashes(r))
	s.facts(func(h index.HostID, from, to int) {
		t.lose(h, blocks[from:to])
	})
	t.evicted += uint64(s.len)
	t.forget(id, r, 0, s.len)
	t.free(id, r)
}

// use sets how often r outlives the hand. A reader that does so too may win.
func (t *runTree) use(r *run, n int) {
	put64((*uint64)(&r.meta), uint64(r.meta&^useMask)|uint64(n)<<useShift)
}

// mark is what a reader does that saw m: once for each time that the hand comes by, so that readers seldom write. Who
// meets somebody else there leaves it.
func (r *run) mark(m meta, n int) {
	atomic.CompareAndSwapUint64((*uint64)(&r.meta), uint64(m), uint64(m&^useMask|meta(n)<<useShift))
}

// keep sees to it that r outlives the hand at least n times.
func (t *runTree) keep(r *run, n int) {
	if r.meta.use() < n {
		t.use(r, n)
	}
}

// space makes sure that one array of n words can be handed out. Where as much as that had to be forgotten for it and is
// in pieces, it reports false.
func (t *runTree) space(n int) bool {
	if t.words.fits(n) || forgets && t.words.shattered() && t.vacate(t.words.turn()) && t.words.fits(n) {
		return true
	}
	enough := t.evicted + uint64(n)
	return t.evict(index.HostBitmap{}, func() bool { return t.words.fits(n) || t.evicted >= enough }) && t.words.fits(n)
}

// entryRoom makes sure that the table takes one more block.
func (t *runTree) entryRoom(p uint64) bool {
	return t.full.room(p) || t.evict(index.HostBitmap{}, func() bool { return t.full.room(p) })
}

// take charges n bytes for what is kept elsewhere of blocks that one of hosts holds.
func (t *runTree) take(n int64, hosts func() index.HostBitmap) bool {
	if t.mem.take(n) {
		return true
	}
	of := hosts()
	return !of.Empty() && t.evict(of, func() bool { return t.mem.take(n) })
}
