package runs

import (
	"octet/kvpool"
	"octet/routing/index"
)

// hold records that h holds blocks [from, to) of a run. It reports false, and records nothing, when there is no room.
func (t *runTree) hold(id uint32, from, to int, h index.HostID) bool {
	r, s := t.at(id), t.borrow()
	defer t.giveBack(s)
	t.read(r, s)
	t.pinned = id
	gained := s.hold(h, from, to)
	if gained > 0 {
		t.keep(r, shared)
		if (s.crowded() || len(s.isles) > 0) && !t.room(s.len) {
			return false
		}
		t.fit(id, s)
		t.held[h] += gained
	}
	return true
}

// drop records that h does not hold blocks [from, to) of a run. Where there is no room to record what is left, more is
// forgotten: never does the index say that somebody holds what he does not.
func (t *runTree) drop(id uint32, from, to int, h index.HostID) {
	r, s := t.at(id), t.borrow()
	defer t.giveBack(s)
	t.read(r, s)
	t.pinned = id
	if lost := s.drop(h, from, to); lost > 0 {
		t.held[h] -= lost
		t.settle(id, s, from, to)
	}
}

// settle makes s, of which blocks [from, to) may have lost their last holder, the shape of a run.
func (t *runTree) settle(id uint32, s *shape, from, to int) {
	t.gaps = s.gaps(from, to, t.gaps[:0])
	if (len(t.gaps) > 0 && t.gaps[0].to < s.len || s.crowded() || len(s.isles) > 0) && !t.room(s.len) {
		t.shed(id, s)
		return
	}
	for i := len(t.gaps) - 1; i >= 0; i-- {
		t.carve(id, s, t.gaps[i])
	}
	if s.len > 0 {
		t.fit(id, s)
	}
}

// shed makes s small enough for a run without taking any room: it forgets all isles and what comes after the first gap.
func (t *runTree) shed(id uint32, s *shape) {
	blocks := blocksOf(t.words.array(t.at(id).words, s.len))
	for _, i := range s.isles {
		t.lose(i.host, blocks[i.from:i.to])
	}
	s.isles = s.isles[:0]
	for len(s.parts) > maxParts {
		p := s.parts[len(s.parts)-1]
		t.lose(p.host, blocks[:p.reach])
		s.parts = s.parts[:len(s.parts)-1]
	}
	if t.gaps = s.gaps(0, s.len, t.gaps[:0]); len(t.gaps) > 0 {
		t.carve(id, s, stretch{t.gaps[0].from, s.len})
	}
	if s.len > 0 {
		t.fit(id, s)
	}
}

// lose notes that h is not known to hold blocks any more.
func (t *runTree) lose(h index.HostID, blocks []kvpool.BlockHash) {
	t.held[h] -= len(blocks)
	t.parted(h, blocks)
}

// charge takes what was lost off what is held.
func (t *runTree) charge() {
	for h, n := range t.lost {
		t.held[h] -= n
	}
}

// carve cuts a gap out of a run: what is behind it becomes a run of its own, what is before it stays, if anything.
func (t *runTree) carve(id uint32, s *shape, gap stretch) {
	r := t.at(id)
	if gap.to < s.len {
		tail := t.borrow()
		s.cut(gap.to, tail)
		t.branch(id, gap.to, tail)
		t.giveBack(tail)
	}
	t.forget(id, r, gap.from, gap.to)
	if gap.from == 0 {
		s.len = 0
		t.free(id, r)
		return
	}
	s.trim(gap.from)
}

// fit writes s to its run, and cuts it in pieces first when it is too much for one. There is room.
func (t *runTree) fit(id uint32, s *shape) {
	r := t.at(id)
	for s.crowded() {
		tail, at := t.borrow(), s.middle()
		s.cut(at, tail)
		t.branch(id, at, tail)
		t.giveBack(tail)
	}
	t.write(r, s)
	if classSizes[r.meta.class()] >= 2*s.len && t.words.fits(s.len) {
		t.rehome(r, s.len)
	}
}

// branch makes the blocks of a run from at on a run of their own, of shape s. The old one still has them; its shape is
// written later, so that a reader finds them here or there. There is room.
func (t *runTree) branch(from uint32, at int, s *shape) {
	for s.crowded() {
		tail, mid := t.borrow(), s.middle()
		s.cut(mid, tail)
		t.branch(from, at+mid, tail)
		t.giveBack(tail)
	}
	id, b := t.open(s.len)
	old := t.words.array(t.at(from).words, at+s.len)[at:]
	fresh := t.words.array(b.words, s.len)
	for i, hash := range old {
		put64(&fresh[i], hash)
	}

	for i := 0; i < len(old); i += 32 {
		part := old[i:min(i+32, len(old))]
		t.full.touch(blocksOf(part))
		for j, hash := range part {
			p := hash * index.Golden
			t.full.replace(p, newEntry(p, from, at+i+j), newEntry(p, id, i+j))
		}
	}
	t.write(b, s)
	t.crown(id, b)
}

// split cuts a run in two before block at. It reports false when there is no room.
func (t *runTree) split(id uint32, at int) bool {
	r := t.at(id)
	if !t.room(r.meta.len()) {
		return false
	}
	s, tail := t.borrow(), t.borrow()
	t.read(r, s)
	s.cut(at, tail)
	t.branch(id, at, tail)
	t.fit(id, s)
	t.giveBack(tail)
	t.giveBack(s)
	return true
}
