package runs

import (
	"octet/kvpool"
	"octet/routing/index"
)

// ahead is how many blocks' buckets in the table are loaded side by side before the first is used.
const ahead = 32

// maxLeftBehind bounds how many replicas may be left behind by one that lengthens a run which they all hold: each
// becomes a prefix holder.
const maxLeftBehind = maxPrefixes / 2

// store records that h holds blocks. With chained, each follows the one before it; with followed, the first follows
// parent. It returns how many of them are recorded: all, unless there is no room for new ones.
func (t *tree) store(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash, followed, chained bool) int {
	for i := 0; i < len(blocks); {
		rest := blocks[i:]
		if !chained {
			rest = rest[:1]
		}
		n := t.storeStretch(h, rest, parent, followed)
		if n == 0 {
			t.refused += uint64(len(blocks) - i)
			return i
		}
		i += n
		parent, followed = blocks[i-1], chained
	}
	return len(blocks)
}

// storeStretch records the first of blocks and those after it that are like it: known and next in the same run, or new.
// It returns how many, 0 if there is no room.
func (t *tree) storeStretch(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash, followed bool) int {
	id, off := t.find(blocks[0])
	if id == 0 {
		return t.storeNew(h, blocks, parent, followed)
	}
	n := t.matching(id, off, blocks)
	if !t.hold(id, off, off+n, h) {
		return 0
	}
	return n
}

// matching returns how many of blocks, the first of which is the run's block off, are the run's next ones.
func (st *storage) matching(id uint32, off int, blocks []kvpool.BlockHash) int {
	run := blocksOf(st.hashes(st.at(id))[off:])
	n := min(len(run), len(blocks))
	run, blocks = run[:n], blocks[:n]
	for i := range run {
		if run[i] != blocks[i] {
			return i
		}
	}
	return n
}

// storeNew records a stretch of new blocks, the first of which is in no run: they lengthen the run that they follow, or
// become a run. It returns how many blocks that are, 0 if there is no room. Where memory is short the run is short,
// too.
func (t *tree) storeNew(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash, followed bool) (n int) {
	if followed {
		n = t.storeAfter(h, blocks, parent)
	}
	if n > 0 || !t.headerRoom() {
		return n
	}
	blocks = blocks[:min(len(blocks), maxRun)]
	for fits := t.arrayRoom(len(blocks)); !fits; fits = t.arena.canAllocate(len(blocks)) {
		if len(blocks) == 1 {
			return 0
		}
		blocks = blocks[:len(blocks)/2]
	}
	return t.newRun(h, blocks)
}

// storeAfter finds the run of parent and pins it while what comes after it is stored. If the chain leaves the run
// before its end, the run is split there. If it leaves at the end, the run is lengthened by blocks if it may be, and
// storeAfter returns by how many.
func (t *tree) storeAfter(h index.HostID, blocks []kvpool.BlockHash, parent kvpool.BlockHash) (n int) {
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
		t.protect(r, usePassed)
	}
	return n
}

// newRun makes a run of new blocks, which h holds. There is room.
func (t *tree) newRun(h index.HostID, blocks []kvpool.BlockHash) (n int) {
	s := t.borrowHolders()
	defer t.returnHolders(s)
	*s = holders{full: index.HostSet(h), prefixes: s.prefixes[:0], fragments: s.fragments[:0]}
	if n = t.insert(blocks, s); n > 0 {
		t.held[h] += n
	}
	return n
}

// insert makes blocks a run held as s says, and returns how many of them. If s has a length it is all or none;
// otherwise those before the first that is known already or finds no room. There is room for the run itself.
func (t *tree) insert(blocks []kvpool.BlockHash, s *holders) (n int) {
	id, r := t.allocate(len(blocks))
	n = t.fill(id, 0, blocks)
	t.entries += n
	if n == 0 || n < s.len {
		t.unlink(id, r, 0, n)
		t.release(id, r)
		return n
	}
	s.len = n
	t.writeBack(id, s)
	t.addHead(id, r)
	return n
}

// extends returns true if h may lengthen r: it holds all of it, there is space for more, and few other replicas would
// be left behind.
func (t *tree) extends(r *run, h index.HostID) bool {
	return r.full.Has(h) && r.meta.len() < maxRun && r.full.Count()-1+r.meta.prefixes() <= maxLeftBehind
}

// extend lengthens a run, all of which h holds, by new blocks. It returns how many.
func (t *tree) extend(id uint32, h index.HostID, blocks []kvpool.BlockHash) int {
	r := t.at(id)
	had := r.meta.len()
	blocks = blocks[:min(len(blocks), maxRun-had)]
	if had+len(blocks) > classSizes[r.meta.class()] {
		if !t.arrayRoom(had + len(blocks)) {
			return 0
		}
		t.moveHashes(r, had+len(blocks))
	}
	n := t.fill(id, had, blocks)
	if n == 0 {
		return 0
	}
	s := t.borrowHolders()
	t.read(r, s)
	s.grow(h, n)
	t.writeBack(id, s)
	t.returnHolders(s)
	t.entries += n
	t.held[h] += n
	return n
}

// fill writes blocks into a run's array from off on, and into the table, up to the first that is there already or finds
// no room. It returns how many that are. No reader sees them yet.
func (t *tree) fill(id uint32, off int, blocks []kvpool.BlockHash) int {
	array := t.arena.array(t.at(id).hashes, off+len(blocks))[off:]
	for i, b := range blocks {
		if i%ahead == 0 {
			t.blocks.prefetch(blocks[i:min(i+ahead, len(blocks))])
		}
		p := mix(b)
		if known, _ := t.find(b); known != 0 || !t.tableRoom(p) {
			return i
		}
		put64(&array[i], uint64(b))
		t.blocks.insert(p, newEntry(p, id, off+i))
	}
	return len(blocks)
}

// remove records that h does not hold blocks. Neighbours are found by comparing, in either direction, the others by the
// table.
func (t *tree) remove(h index.HostID, blocks []kvpool.BlockHash) {
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

// matchingDown returns how many of blocks, the first of which is the run's block off, are the run's towards its
// beginning, one after the other: caches are evicted from the tail.
func (st *storage) matchingDown(id uint32, off int, blocks []kvpool.BlockHash) int {
	run := blocksOf(st.hashes(st.at(id))[:off+1])
	n := min(len(run), len(blocks))
	for i := range n {
		if run[off-i] != blocks[i] {
			return i
		}
	}
	return n
}

// holds returns true if h holds b.
func (st *storage) holds(h index.HostID, b kvpool.BlockHash) bool {
	id, off := st.find(b)
	if id == 0 {
		return false
	}
	r, s := st.at(id), st.borrowHolders()
	defer st.returnHolders(s)
	st.read(r, s)
	if off < s.reach(h) {
		return true
	}
	for _, i := range s.fragments {
		if i.host == h && int(i.from) <= off && off < int(i.to) {
			return true
		}
	}
	return false
}

// dropHosts removes hosts from the holders of a run.
func (t *tree) dropHosts(id uint32, hosts index.HostBitmap) {
	r, s := t.at(id), t.borrowHolders()
	defer t.returnHolders(s)
	if t.pinned = id; r.meta.len() == 0 {
		return
	}
	if t.read(r, s); !s.heldByAny(hosts) {
		return
	}
	clear(t.lost[:])
	s.dropHosts(hosts, &t.lost)
	t.countLost()
	t.commit(id, s, 0, s.len)
}
