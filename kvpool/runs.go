package kvpool

// runBlocks is how many blocks a run has at most.
const runBlocks = 64

// run is a stretch of one chain whose blocks were told apart by nobody so far: exactly the same tables list them, all of them or none.
// So they have one count of references, become free together, and leave the cache last first.
type run struct {
	last       BlockHash // of its blocks
	size       int32     // of ids; 0 is an unused run
	refs       int32     // tables that list it
	drops      int32     // scratch of Imagined, zero between uses
	prev, next runID     // neighbours among the idle, meaningful while refs is 0; next of an unused run is the next unused
	follow     runID     // the one that was shared behind it last; it may be another one by now
	ids        [runBlocks]BlockID
}

// runID is a run's index. Run 0 is the sentinel of the idle: behind it is who is evicted first.
type runID int32

// runs holds the runs of a pool: idle ones are linked in the order in which they are evicted.
type runs struct {
	all    []run
	unused runID // 0 is none
	idle   int   // blocks of the idle runs
}

// newRuns makes room for what blocks come to where runs are a quarter full. More is made when there are more.
func newRuns(blocks int) runs { return runs{all: make([]run, 1, 2+4*blocks/runBlocks)} }

// add returns a run of no blocks yet that refs tables list. It may move all runs.
func (r *runs) add(refs int32) runID {
	id := r.unused
	if id == 0 {
		id = runID(len(r.all))
		r.all = append(r.all, run{refs: refs})
		return id
	}
	one := &r.all[id]
	r.unused, one.refs, one.follow = one.next, refs, 0
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

// stretch finds how far chain goes on in the run that holds its first block, which mostly is the one that was behind before the last
// time; 0 is none. Hashes are cumulative: where one is equal all before it are.
func (p *Pool) stretch(chain []BlockHash, before runID) stretch {
	id := p.runs.all[before].follow
	one := &p.runs.all[id]
	if n := int(one.size); n > 0 && n <= len(chain) && one.last == chain[n-1] {
		return stretch{id, 0, n}
	}
	return p.seek(chain)
}

// seek is stretch without an idea of where it may be.
func (p *Pool) seek(chain []BlockHash) stretch {
	id, ok := p.prefix.find(chain[0])
	if !ok {
		return stretch{}
	}
	b := p.blocks[id]
	one := &p.runs.all[b.run]
	n := min(int(one.size-b.at), len(chain))
	for n > 1 && p.blocks[one.ids[int(b.at)+n-1]].hash != chain[n-1] {
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

// split cuts a run, and returns what is from at on. An idle one keeps its place: its end is evicted before its beginning.
func (p *Pool) split(head runID, at int) runID {
	tail := p.runs.add(p.runs.all[head].refs)
	from, to := &p.runs.all[head], &p.runs.all[tail]
	to.size = int32(copy(to.ids[:], from.ids[at:from.size]))
	to.drops, to.last, to.follow = from.drops, from.last, from.follow
	if from.drops != 0 {
		p.imagined = append(p.imagined, tail)
	}
	for i, id := range to.ids[:to.size] {
		b := &p.blocks[id]
		b.run, b.at = tail, int32(i)
	}
	from.size, from.last, from.follow = int32(at), p.blocks[from.ids[at-1]].hash, tail
	if from.refs == 0 {
		p.runs.idle -= int(to.size)
		p.runs.link(tail, head)
	}
	return tail
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
		panic(released(one.ids[0], int(one.refs)))
	}
	if one.refs--; one.refs == 0 {
		p.runs.link(id, 0)
	}
}
