package kvpool

import "fmt"

// runBlocks is how many blocks a run has at most.
const runBlocks = 64

// run is a stretch of one chain whose blocks were told apart by nobody so far: exactly the same tables list them, all
// of them or none. So they have one count of references, become free together, and leave the cache last first.
type run struct {
	last  BlockHash // of its blocks
	size  int32     // blocks; 0 is an unused run
	refs  int32     // tables that list it
	drops int32     // scratch of Imagined, zero between uses
	// neighbours among the idle, meaningful while refs is 0; next of an unused run is the next unused
	prev, next runID
	follow     runID // the one that was shared behind it last; it may be another one by now
	// what was cut off its end last; meaningful for who lists more than size blocks from its first on
	rest runID
}

// runID is a run's index. Run 0 is the sentinel of the idle: behind it is who is evicted first.
type runID int32

// runs holds the runs of a pool: idle ones are linked in the order in which they are evicted.
type runs struct {
	all    []run
	ids    [][runBlocks]BlockID // of each run, its blocks
	unused runID                // 0 is none
	idle   int                  // blocks of the idle runs
	// by a byte of its first block: a run that was looked for lately; it may be another one by now
	hints [256]runID
}

// newRuns makes room for what blocks come to where runs are a quarter full. More is made when there are more.
func newRuns(blocks int) runs {
	room := 2 + 4*blocks/runBlocks
	return runs{all: make([]run, 1, room), ids: make([][runBlocks]BlockID, 1, room)}
}

// blocks returns the blocks of a run.
func (r *runs) blocks(id runID) []BlockID { return r.ids[id][:r.all[id].size] }

// add returns a run of no blocks yet that refs tables list. It may move all runs.
func (r *runs) add(refs int32) runID {
	id := r.unused
	if id == 0 {
		id = runID(len(r.all))
		r.all = append(r.all, run{refs: refs})
		r.ids = append(r.ids, [runBlocks]BlockID{})
		return id
	}
	one := &r.all[id]
	r.unused, one.refs, one.follow, one.rest = one.next, refs, 0, 0
	return id
}

// discard keeps a run of no blocks for add.
func (r *runs) discard(id runID) {
	r.all[id].next = r.unused
	r.unused = id
}

// link puts an idle run before another one; before 0 is last.
func (r *runs) link(id, next runID) {
	prev := r.all[next].prev
	r.all[id].prev, r.all[id].next = prev, next
	r.all[prev].next, r.all[next].prev = id, id
	r.idle += int(r.all[id].size)
}

func (r *runs) unlink(id runID) {
	one := &r.all[id]
	r.all[one.prev].next, r.all[one.next].prev = one.next, one.prev
	r.idle -= int(one.size)
}

// stretch is n blocks of a run, from at on. No blocks is none.
type stretch struct {
	run   runID
	at, n int
}

// stretch finds how far chain goes on in the run that holds its first block, which mostly is the one that was behind
// before the last time, else one that was looked for lately; before 0 is none. Hashes are cumulative: where one is
// equal all before it are.
func (p *Pool) stretch(chain []BlockHash, before runID) stretch {
	r := &p.runs
	if id := r.all[before].follow; r.all[id].begins(chain) {
		return stretch{id, 0, int(r.all[id].size)}
	}
	hint := &r.hints[uint8(chain[0])]
	if id := *hint; r.all[id].begins(chain) {
		return stretch{id, 0, int(r.all[id].size)}
	}
	s := p.seek(chain)
	*hint = s.run
	return s
}

// begins reports whether chain begins with all blocks of the run.
func (r *run) begins(chain []BlockHash) bool {
	n := int(r.size)
	return n > 0 && n <= len(chain) && r.last == chain[n-1]
}

// seek is stretch without an idea of where it may be.
func (p *Pool) seek(chain []BlockHash) stretch {
	id, ok := p.prefix.find(chain[0])
	if !ok {
		return stretch{}
	}
	b := p.blocks[id]
	ids := p.runs.blocks(b.run)[b.at:]
	n := min(len(ids), len(chain))
	for n > 1 && p.blocks[ids[n-1]].hash != chain[n-1] {
		n--
	}
	return stretch{b.run, int(b.at), n}
}

// part makes s a run of its own.
func (p *Pool) part(s stretch) runID {
	if s.at > 0 {
		s.run = p.split(s.run, s.at)
	}
	if s.n < int(p.runs.all[s.run].size) {
		p.split(s.run, s.n)
	}
	return s.run
}

// split cuts a run, and returns what is from at on. An idle one keeps its place: its end is evicted before its
// beginning.
func (p *Pool) split(head runID, at int) runID {
	tail := p.runs.add(p.runs.all[head].refs)
	from, to := &p.runs.all[head], &p.runs.all[tail]
	ids := p.runs.blocks(head)
	to.size = int32(copy(p.runs.ids[tail][:], ids[at:]))
	to.drops, to.last, to.follow, to.rest = from.drops, from.last, from.follow, from.rest
	if from.drops != 0 {
		p.imagined = append(p.imagined, tail)
	}
	for i, id := range ids[at:] {
		b := &p.blocks[id]
		b.run, b.at = tail, int32(i)
	}
	from.size, from.last, from.follow, from.rest = int32(at), p.blocks[ids[at-1]].hash, tail, tail
	if from.refs == 0 {
		p.runs.idle -= int(to.size)
		p.runs.link(tail, head)
	}
	return tail
}

// behind returns the run that was cut off the end of a run that is listed with it.
func (r *runs) behind(id runID) runID {
	rest := r.all[id].rest
	if rest == 0 {
		panic(fmt.Sprintf("kvpool: nothing was cut off run %d", id))
	}
	return rest
}

// hold adds a reference to a run.
func (p *Pool) hold(id runID) *run {
	one := &p.runs.all[id]
	if one.refs == 0 {
		p.runs.unlink(id)
	}
	one.refs++
	return one
}

// drop takes a reference back.
func (p *Pool) drop(id runID) {
	one := &p.runs.all[id]
	if one.refs <= 0 {
		panic(released(p.runs.ids[id][0], int(one.refs)))
	}
	if one.refs--; one.refs == 0 {
		p.runs.link(id, 0)
	}
}
