package runs

import (
	"octet/routing/index"
)

// hold records that h holds blocks [from, to) of a run. It returns false, and records nothing, if there is no room.
func (t *tree) hold(id uint32, from, to int, h index.HostID) bool {
	r, s := t.at(id), t.borrowHolders()
	defer t.returnHolders(s)
	t.read(r, s)
	t.pinned = id
	gained := s.hold(h, from, to)
	if gained > 0 {
		t.protect(r, useShared)
		if (s.crowded() || len(s.fragments) > 0) && !t.changeRoom(s.len) {
			return false
		}
		t.writeBack(id, s)
		t.held[h] += gained
	}
	return true
}

// drop records that h does not hold blocks [from, to) of a run. If there is no room to record what is left, more is
// dropped: the index never names a holder that does not have the block.
func (t *tree) drop(id uint32, from, to int, h index.HostID) {
	r, s := t.at(id), t.borrowHolders()
	defer t.returnHolders(s)
	t.read(r, s)
	t.pinned = id
	if lost := s.drop(h, from, to); lost > 0 {
		t.held[h] -= lost
		t.commit(id, s, from, to)
	}
}

// commit writes s to its run. Blocks [from, to) of it may have lost their last holder, and are cut out.
func (t *tree) commit(id uint32, s *holders, from, to int) {
	t.gaps = s.gaps(from, to, t.gaps[:0])
	if (len(t.gaps) > 0 && t.gaps[0].to < s.len || s.crowded() || len(s.fragments) > 0) && !t.changeRoom(s.len) {
		t.shrink(id, s)
		return
	}
	for i := len(t.gaps) - 1; i >= 0; i-- {
		t.cutOut(id, s, t.gaps[i])
	}
	if s.len > 0 {
		t.writeBack(id, s)
	}
}

// shrink makes s small enough for a run without taking any room: it drops all fragments, the prefixes that do not fit,
// and what comes after the first gap.
func (t *tree) shrink(id uint32, s *holders) {
	blocks := blocksOf(t.arena.array(t.at(id).hashes, s.len))
	for _, i := range s.fragments {
		t.forgetBlocks(i.host, blocks[i.from:i.to])
	}
	s.fragments = s.fragments[:0]
	for len(s.prefixes) > maxPrefixes {
		p := s.prefixes[len(s.prefixes)-1]
		t.forgetBlocks(p.host, blocks[:p.reach])
		s.prefixes = s.prefixes[:len(s.prefixes)-1]
	}
	if t.gaps = s.gaps(0, s.len, t.gaps[:0]); len(t.gaps) > 0 {
		t.cutOut(id, s, span{t.gaps[0].from, s.len})
	}
	if s.len > 0 {
		t.writeBack(id, s)
	}
}

// cutOut removes a gap from a run: what is behind the gap becomes a run of its own, what is before it stays, if
// anything.
func (t *tree) cutOut(id uint32, s *holders, gap span) {
	r := t.at(id)
	if gap.to < s.len {
		tail := t.borrowHolders()
		s.cut(gap.to, tail)
		t.moveTail(id, gap.to, tail)
		t.returnHolders(tail)
	}
	t.unlink(id, r, gap.from, gap.to)
	if gap.from == 0 {
		s.len = 0
		t.retire(id, r)
		return
	}
	s.trim(gap.from)
}

// writeBack writes s to its run, and splits off tails while it is too much for one header. There is room.
func (t *tree) writeBack(id uint32, s *holders) {
	r := t.at(id)
	for s.crowded() {
		tail, at := t.borrowHolders(), s.middle()
		s.cut(at, tail)
		t.moveTail(id, at, tail)
		t.returnHolders(tail)
	}
	t.write(r, s)
	if classSizes[r.meta.class()] >= 2*s.len && t.arena.canAllocate(s.len) {
		t.moveHashes(r, s.len)
	}
}

// moveTail makes the blocks of a run from at on a run of their own, held as s says. The old run still has them; its
// header is written later, so that a reader finds them in one of the two at every moment. There is room.
func (t *tree) moveTail(from uint32, at int, s *holders) {
	for s.crowded() {
		tail, mid := t.borrowHolders(), s.middle()
		s.cut(mid, tail)
		t.moveTail(from, at+mid, tail)
		t.returnHolders(tail)
	}
	id, b := t.allocate(s.len)
	old := t.arena.array(t.at(from).hashes, at+s.len)[at:]
	fresh := t.arena.array(b.hashes, s.len)
	for i, hash := range old {
		put64(&fresh[i], hash)
	}

	for i := 0; i < len(old); i += 32 {
		part := old[i:min(i+32, len(old))]
		t.blocks.prefetch(blocksOf(part))
		for j, hash := range part {
			p := hash * index.Golden
			t.blocks.replace(p, newEntry(p, from, at+i+j), newEntry(p, id, i+j))
		}
	}
	t.write(b, s)
	t.addHead(id, b)
}

// split cuts a run in two before block at. It returns false if there is no room.
func (t *tree) split(id uint32, at int) bool {
	r := t.at(id)
	if !t.changeRoom(r.meta.len()) {
		return false
	}
	s, tail := t.borrowHolders(), t.borrowHolders()
	t.read(r, s)
	s.cut(at, tail)
	t.moveTail(id, at, tail)
	t.writeBack(id, s)
	t.returnHolders(tail)
	t.returnHolders(s)
	return true
}
