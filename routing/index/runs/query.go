package runs

import (
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// maxTorn is how often a reader that meets the writer looks again before it waits for it.
const maxTorn = 64

// runSnapshot is what a reader read of one run, all of it at one moment.
type runSnapshot struct {
	n        int // leading blocks of the chain that match
	full     index.HostBitmap
	prefixes int
	prefix   [maxPrefixes]uint32
}

// lookupResult is how a lookup went.
type lookupResult uint8

const (
	absent lookupResult = iota // no run begins with the block
	seen
	torn // the writer was at it
)

// query is one call of Depths.
type query struct {
	chain []kvpool.BlockHash
	out   *[index.MaxHosts]uint16
	live  index.HostBitmap // the holders of chain[:pos]
	any   uint64           // all words of live together
	pos   int
	looks int
	at    runSnapshot
}

// view is what readers follow. It never changes, and lies on a cache line that is not written.
type view struct {
	runs   *slab
	arrays *slab      // of the arena
	heads  *hashtable // first block of a run → the run: the only table that readers probe
}

// depths sets d.out[h] for each host of live that holds more than nothing of chain.
//
// It takes no lock. What it sees of a run is of one moment, and true of each replica that no change touches meanwhile:
// runs are split, lengthened and moved, but a block that keeps a holder is at every moment the head of a run, or inside
// the run of the block before it, and changes between the two only in ways that a reader of the old may follow. A
// reader that meets the writer too often waits for it.
func (t *tree) depths(d *query) {
	if lockedReads || !t.walk(d, maxTorn) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		t.walk(d, math.MaxInt)
	}
	runtime.KeepAlive(t) // its memory goes with it
}

// walk follows the chain to its end. It returns false if it has met the writer more often than patience.
func (v *view) walk(d *query, patience int) bool {
	for d.pos < len(d.chain) && d.any != 0 {
		d.looks++
		switch v.lookup(d.chain[d.pos:], &d.at) {
		case seen:
			d.advance()
		case absent:
			d.finish()
			return true
		case torn:
			if patience--; patience < 0 {
				return false
			}
		}
	}
	d.finish()
	return true
}

// advance goes to the end of the run that was read, and answers for the hosts that do not hold all of it.
func (d *query) advance() {
	for _, p := range d.at.prefix[:d.at.prefixes] {
		word, bit := p>>22%index.Words, uint64(1)<<(p>>16&63)
		switch reach := int(p & 0xffff); {
		case d.live[word]&bit == 0:
		case reach >= d.at.n:
			d.at.full[word] |= bit
		default:
			d.live[word] &^= bit
			d.out[p>>16%index.MaxHosts] = uint16(d.pos + reach)
		}
	}
	d.any = 0
	for i := range d.live { // word by word: what was just written in words stalls a load of the whole
		live, full := d.live[i], d.at.full[i]
		if gone := live &^ full; gone != 0 {
			d.answer(i, gone)
			live &= full
			d.live[i] = live
		}
		d.any |= live
	}
	d.pos += d.at.n
}

// answer sets the depth of the hosts of a word. It is 0 for all of them already.
func (d *query) answer(word int, hosts uint64) {
	if d.pos == 0 {
		return
	}
	out := (*[64]uint16)(d.out[word<<6:])
	for ; hosts != 0; hosts &= hosts - 1 {
		out[bits.TrailingZeros64(hosts)&63] = uint16(d.pos)
	}
}

// finish sets the depth of all hosts that are left.
func (d *query) finish() {
	for i := range d.live {
		d.answer(i, d.live[i])
	}
}

// lookup finds the run that begins with chain[0].
func (v *view) lookup(chain []kvpool.BlockHash, g *runSnapshot) lookupResult {
	p := mix(chain[0])
	segment := v.heads.segment(p)
	l := segment.Load()
	want := p << 44
	for i := v.heads.home(p, l.n); ; {
		line := l.at(i)
		for j := range line {
			e := atomic.LoadUint64(&line[j])
			if (e^want)&tagMask != 0 || entryID(e) == 0 {
				continue
			}
			if s := v.readRun(entryID(e), chain, g); s != absent {
				runtime.KeepAlive(l)
				return s
			}
		}
		if line.hasFree() {
			runtime.KeepAlive(l)
			if segment.Load() != l {
				return torn // these buckets are out of use, and may have been emptied
			}
			return absent
		}
		if i++; i == l.n {
			i = 0
		}
	}
}

// hasFree returns true if a slot is free.
func (l *bucket) hasFree() bool {
	for j := range l {
		if atomic.LoadUint64(&l[j]) == 0 {
			return true
		}
	}
	return false
}

// readRun reads one run; absent if it does not begin with chain[0].
func (v *view) readRun(id uint32, chain []kvpool.BlockHash, g *runSnapshot) lookupResult {
	dir := *v.runs.dir.Load()
	if int(id>>runBits) >= len(dir) {
		return torn
	}
	r := runAt(dir, id)
	seq := atomic.LoadUint32(&r.seq)
	if seq&1 != 0 {
		return torn
	}
	m := meta(atomic.LoadUint64((*uint64)(&r.meta)))
	if m.len() == 0 || atomic.LoadUint64(&r.first) != uint64(chain[0]) {
		if atomic.LoadUint32(&r.seq) != seq {
			return torn
		}
		return absent
	}
	for i := range g.full {
		g.full[i] = atomic.LoadUint64(&r.full[i])
	}
	g.prefixes = min(m.prefixes(), maxPrefixes)
	for i := range g.prefixes {
		g.prefix[i] = atomic.LoadUint32(&r.prefixes[i])
	}
	if n := m.len(); n <= len(chain) && atomic.LoadUint64(&r.last) == uint64(chain[n-1]) {
		g.n = n
	} else {
		g.n = v.bisect(atomic.LoadUint32(&r.hashes), chain[:min(n, len(chain))])
	}
	if atomic.LoadUint32(&r.seq) != seq {
		return torn
	}
	use := useEnded
	if g.n < len(chain) {
		use = usePassed
	}
	if m.use() < use {
		r.mark(m, use)
	}
	return seen
}

// bisect returns how many blocks of chain, the first of which matches, the array at pos begins with. Hashes are
// cumulative: where one is equal, all before it are. What it returns for an array that was freed means nothing, and the
// caller discards it.
func (v *view) bisect(pos uint32, chain []kvpool.BlockHash) int {
	dir := *v.arrays.dir.Load()
	if int(pos>>wordBits) >= len(dir) || int(pos&(1<<wordBits-1))+len(chain) > 1<<wordBits {
		return 1
	}
	at := func(i int) bool {
		return atomic.LoadUint64((*uint64)(wordAt(dir, pos+uint32(i)))) == uint64(chain[i])
	}
	if at(len(chain) - 1) {
		return len(chain)
	}
	lo, hi := 1, len(chain)-1 // lo blocks match, more than hi do not
	for lo < hi {
		if mid := (lo + hi + 1) / 2; at(mid - 1) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
