package kvpool

import "fmt"

// runBlocks is how many blocks a run has at most.
const runBlocks = 64

// run is a stretch of one chain that exactly the same tables list, whole. So its blocks have one count of
// references, become free together, and leave the cache last first. It is cut when a table shares, or keeps, a part
// of it.
type run struct {
	last     BlockHash // of its blocks
	size     int32     // blocks; 0 is an unused run
	refs     int32     // tables that list it
	imagined int32     // releases that an Imagined counts; zero between uses
	// neighbours among the idle, meaningful while refs is 0; next of an unused run is the next unused
	prev, next runID
	successor  runID // a guess: the run that was shared behind it last
	// what was cut off its end last; meaningful for a table that lists more than size blocks from its first on
	tail runID
}

// runID is a run's index. Run 0 is the head of the ring of idle runs: the one behind it is evicted first.
type runID int32

// runTable holds the runs of a pool. The idle ones are linked in the order in which they are evicted.
type runTable struct {
	all        []run
	ids        [][runBlocks]BlockID // of each run, its blocks
	freeRuns   runID                // the first of those without blocks; 0 at the end
	idleBlocks int                  // blocks of the idle runs
	// a guess by a byte of the first block: a run that was looked for lately
	recent [256]runID
}

// newRunTable makes room for the runs that blocks come to if runs are a quarter full. More is made when there are more.
func newRunTable(blocks int) runTable {
	room := 2 + 4*blocks/runBlocks
	return runTable{all: make([]run, 1, room), ids: make([][runBlocks]BlockID, 1, room)}
}

// blocks returns the blocks of a run.
func (r *runTable) blocks(id runID) []BlockID { return r.ids[id][:r.all[id].size] }

// add returns a run without blocks that refs tables list. It may move all runs.
func (r *runTable) add(refs int32) runID {
	id := r.freeRuns
	if id == 0 {
		id = runID(len(r.all))
		r.all = append(r.all, run{refs: refs})
		r.ids = append(r.ids, [runBlocks]BlockID{})
		return id
	}
	one := &r.all[id]
	r.freeRuns, one.refs, one.successor, one.tail = one.next, refs, 0, 0
	return id
}

// release keeps a run without blocks for add.
func (r *runTable) release(id runID) {
	r.all[id].next = r.freeRuns
	r.freeRuns = id
}

// link puts an idle run before another one; before 0 is last.
func (r *runTable) link(id, next runID) {
	prev := r.all[next].prev
	r.all[id].prev, r.all[id].next = prev, next
	r.all[prev].next, r.all[next].prev = id, id
	r.idleBlocks += int(r.all[id].size)
}

// unlink removes a run from the idle ones.
func (r *runTable) unlink(id runID) {
	one := &r.all[id]
	r.all[one.prev].next, r.all[one.next].prev = one.next, one.prev
	r.idleBlocks -= int(one.size)
}

// match is blocks of a run that a chain goes on with: n blocks from at on; no run if n is 0.
type match struct {
	run   runID
	at, n int
}

// matchRun finds how far chain goes on in the run that holds its first block. It tries two guesses before the map: the
// run that was shared behind before the last time, and one that was looked for lately. Hashes are cumulative, so a
// guess is right if its last hash is the chain's. before 0: no run comes before.
func (p *Pool) matchRun(chain []BlockHash, before runID) match {
	r := &p.runs
	if id := r.all[before].successor; r.all[id].matches(chain) {
		return match{id, 0, int(r.all[id].size)}
	}
	hint := &r.recent[uint8(chain[0])]
	if id := *hint; r.all[id].matches(chain) {
		return match{id, 0, int(r.all[id].size)}
	}
	s := p.lookupRun(chain)
	*hint = s.run
	return s
}

// matches returns true if chain begins with all blocks of the run.
func (r *run) matches(chain []BlockHash) bool {
	n := int(r.size)
	return n > 0 && n <= len(chain) && r.last == chain[n-1]
}

// lookupRun is matchRun without a guess.
func (p *Pool) lookupRun(chain []BlockHash) match {
	id, ok := p.prefix.find(chain[0])
	if !ok {
		return match{}
	}
	b := p.blocks[id]
	ids := p.runs.blocks(b.run)[b.at:]
	n := min(len(ids), len(chain))
	for n > 1 && p.blocks[ids[n-1]].hash != chain[n-1] {
		n--
	}
	return match{b.run, int(b.at), n}
}

// isolate cuts runs so that m is a run of its own, which it returns.
func (p *Pool) isolate(s match) runID {
	if s.at > 0 {
		s.run = p.split(s.run, s.at)
	}
	if s.n < int(p.runs.all[s.run].size) {
		p.split(s.run, s.n)
	}
	return s.run
}

// split cuts a run, and returns the run of its blocks from at on. An idle run keeps its place: its end is evicted
// before its beginning.
func (p *Pool) split(head runID, at int) runID {
	tail := p.runs.add(p.runs.all[head].refs)
	from, to := &p.runs.all[head], &p.runs.all[tail]
	ids := p.runs.blocks(head)
	to.size = int32(copy(p.runs.ids[tail][:], ids[at:]))
	to.imagined, to.last, to.successor, to.tail = from.imagined, from.last, from.successor, from.tail
	if from.imagined != 0 {
		p.imaginedRuns = append(p.imaginedRuns, tail)
	}
	for i, id := range ids[at:] {
		b := &p.blocks[id]
		b.run, b.at = tail, int32(i)
	}
	from.size, from.last, from.successor, from.tail = int32(at), p.blocks[ids[at-1]].hash, tail, tail
	if from.refs == 0 {
		p.runs.idleBlocks -= int(to.size)
		p.runs.link(tail, head)
	}
	return tail
}

// tailOf returns the run that was cut off the end of a run by a table that lists both.
func (r *runTable) tailOf(id runID) runID {
	rest := r.all[id].tail
	if rest == 0 {
		panic(fmt.Sprintf("kvpool: nothing was cut off run %d", id))
	}
	return rest
}

// addRef adds a table's reference to a run.
func (p *Pool) addRef(id runID) *run {
	one := &p.runs.all[id]
	if one.refs == 0 {
		p.runs.unlink(id)
	}
	one.refs++
	return one
}

// dropRef removes a table's reference from a run.
func (p *Pool) dropRef(id runID) {
	one := &p.runs.all[id]
	if one.refs <= 0 {
		panic(released(p.runs.ids[id][0], int(one.refs)))
	}
	if one.refs--; one.refs == 0 {
		p.runs.link(id, 0)
	}
}
