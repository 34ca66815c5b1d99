package runs

import (
	"octet/kvpool"
	"octet/routing/index"
)

// ahead is how many blocks' lines in the table are loaded side by side before the first is used.
const ahead = 32

// crowd is up to how many replicas may be left behind by one that lengthens a run which they all hold.
const crowd = maxParts / 2

// store records that h holds blocks, each of which follows the one before it when chained, and the first of which
// follows parent when followed. It returns how many of them are recorded: all, unless there is no room for what is new.
func (t *runTree) store(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash, followed, chained bool) int {
	for i := 0; i < len(blocks); {
		rest := blocks[i:]
		if !chained {
			rest = rest[:1]
		}
		n := t.storeSome(h, rest, parent, followed)
		if n == 0 {
			t.refused += uint64(len(blocks) - i)
			return i
		}
		i += n
		parent, followed = blocks[i-1], chained
	}
	return len(blocks)
}

// storeSome records the first of blocks and those after it that are like it: known, in the same run, or new. It returns
// how many, 0 when there is no room.
func (t *runTree) storeSome(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash, followed bool) int {
	id, off := t.find(blocks[0])
	if id == 0 {
		return t.plant(h, blocks, parent, followed)
	}
	n := t.matching(id, off, blocks)
	if !t.hold(id, off, off+n, h) {
		return 0
	}
	return n
}

// matching returns how many of blocks, the first of which is the run's block off, are the run's next ones.
func (t *runTree) matching(id uint32, off int, blocks []kvpool.BlockHash) int {
	run := blocksOf(t.hashes(t.at(id))[off:])
	n := min(len(run), len(blocks))
	run, blocks = run[:n], blocks[:n]
	for i := range run {
		if run[i] != blocks[i] {
			return i
		}
	}
	return n
}

// plant records a stretch of new blocks, the first of which is in no run: it lengthens the run that it follows, or
// becomes a run. It returns how many blocks that are, 0 when there is no room. Where memory is short the run is, too.
func (t *runTree) plant(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash, followed bool) (n int) {
	if followed {
		n = t.follow(h, blocks, parent)
	}
	if n > 0 || !t.idRoom() {
		return n
	}
	blocks = blocks[:min(len(blocks), maxRun)]
	for fits := t.space(len(blocks)); !fits; fits = t.words.fits(len(blocks)) {
		if len(blocks) == 1 {
			return 0
		}
		blocks = blocks[:len(blocks)/2]
	}
	return t.begin(h, blocks)
}

// follow finds the run of parent, which stays as long as what comes after it is being stored. Chains that part there
// make it part, too; else it is lengthened by blocks where it may be, and follow returns how many those are.
func (t *runTree) follow(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash) (n int) {
	id, off := t.find(parent)
	if t.pinned = id; id == 0 {
		return 0
	}
	r := t.at(id)
	switch {
	case off+1 < r.meta.len():
		t.split(id, off+1)
	case t.extends(r, h):
		n = t.extend(id, h, blocks)
	}
	if n == 0 {
		t.keep(r, passed)
	}
	return n
}

// begin makes new blocks, which h holds, a run. There is room.
func (t *runTree) begin(h index.HostID, blocks []kvpool.BlockHash) (n int) {
	s := t.borrow()
	defer t.giveBack(s)
	*s = shape{full: index.HostSet(h), parts: s.parts[:0], isles: s.isles[:0]}
	if n = t.adopt(blocks, s); n > 0 {
		t.held[h] += n
	}
	return n
}

// adopt makes blocks a run whose holders are those of s, and returns how many of them: with a length in s all or none,
// without one those before the first that is known already or finds no room. There is room for the run itself.
func (t *runTree) adopt(blocks []kvpool.BlockHash, s *shape) (n int) {
	id, r := t.open(len(blocks))
	n = t.fill(id, 0, blocks)
	t.entries += n
	if n == 0 || n < s.len {
		t.forget(id, r, 0, n)
		t.close(id, r)
		return n
	}
	s.len = n
	t.fit(id, s)
	t.crown(id, r)
	return n
}

// extends reports whether h may lengthen r: it holds all of it, there is space for more, and few others would be left
// behind.
func (t *runTree) extends(r *run, h index.HostID) bool {
	return r.full.Has(h) && r.meta.len() < maxRun && r.full.Count()-1+r.meta.parts() <= crowd
}

// extend lengthens a run, all of which h holds, by new blocks.
func (t *runTree) extend(id uint32, h index.HostID, blocks []kvpool.BlockHash) int {
	r := t.at(id)
	had := r.meta.len()
	blocks = blocks[:min(len(blocks), maxRun-had)]
	if had+len(blocks) > classSizes[r.meta.class()] {
		if !t.space(had + len(blocks)) {
			return 0
		}
		t.rehome(r, had+len(blocks))
	}
	n := t.fill(id, had, blocks)
	if n == 0 {
		return 0
	}
	s := t.borrow()
	t.read(r, s)
	s.grow(h, n)
	t.fit(id, s)
	t.giveBack(s)
	t.entries += n
	t.held[h] += n
	return n
}

// fill writes blocks into a run's array from off on, and into the table, up to the first that is there already or finds
// no room. It returns how many that are. No reader sees them yet.
func (t *runTree) fill(id uint32, off int, blocks []kvpool.BlockHash) int {
	array := t.words.array(t.at(id).words, off+len(blocks))[off:]
	for i, b := range blocks {
		if i%ahead == 0 {
			t.full.touch(blocks[i:min(i+ahead, len(blocks))])
		}
		p := mix(b)
		if known, _ := t.find(b); known != 0 || !t.entryRoom(p) {
			return i
		}
		put64(&array[i], uint64(b))
		t.full.insert(p, newEntry(p, id, off+i))
	}
	return len(blocks)
}

// remove records that h does not hold blocks. It finds neighbours by comparing, in either direction, and the others by
// the table.
func (t *runTree) remove(h index.HostID, blocks []kvpool.BlockHash) {
	for len(blocks) > 0 {
		id, off := t.find(blocks[0])
		if id == 0 {
			blocks = blocks[1:]
			continue
		}
		n := t.matching(id, off, blocks)
		from, to := off, off+n
		if n == 1 {
			n = t.matchingDown(id, off, blocks)
			from, to = off+1-n, off+1
		}
		t.drop(id, from, to, h)
		blocks = blocks[n:]
	}
}

// matchingDown returns how many of blocks, the first of which is the run's block off, are the run's one after the other
// towards its beginning: caches are evicted from the tail.
func (t *runTree) matchingDown(id uint32, off int, blocks []kvpool.BlockHash) int {
	run := blocksOf(t.hashes(t.at(id))[:off+1])
	n := min(len(run), len(blocks))
	for i := range n {
		if run[off-i] != blocks[i] {
			return i
		}
	}
	return n
}

// holds reports whether h holds b.
func (t *runTree) holds(h index.HostID, b kvpool.BlockHash) bool {
	id, off := t.find(b)
	if id == 0 {
		return false
	}
	r, s := t.at(id), t.borrow()
	defer t.giveBack(s)
	t.read(r, s)
	if off < s.reach(h) {
		return true
	}
	for _, i := range s.isles {
		if i.host == h && int(i.from) <= off && off < int(i.to) {
			return true
		}
	}
	return false
}

// expel takes all that hosts hold off a run.
func (t *runTree) expel(id uint32, hosts index.HostBitmap) {
	r, s := t.at(id), t.borrow()
	defer t.giveBack(s)
	if t.pinned = id; r.meta.len() == 0 {
		return
	}
	if t.read(r, s); !s.any(hosts) {
		return
	}
	clear(t.lost[:])
	s.expel(hosts, &t.lost)
	t.charge()
	t.settle(id, s, 0, s.len)
}
