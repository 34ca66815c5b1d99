package gate

import (
	"fmt"
	"slices"

	"octet/kvpool"
	"octet/scheduler"
)

// ledger keeps the modelled pool: which lease holds which blocks, what is promised to growth, and what is not believed
// to be free. While any block is overcommitted none is free.
type ledger struct {
	pool          *kvpool.Pool // nil if the engine's pool is unknown: then every request fits
	reserved      int          // blocks that leases hold beyond what is computed
	overcommit    int          // blocks that leases should hold and do not
	overcommitted []*Lease     // oldest first
	withheld      kvpool.Table // blocks that are free in the model and not believed to be
	tables        tables
	chains        chains
}

// exceeds reports whether r could not run alone in the whole pool.
func (b *ledger) exceeds(r *Request) bool {
	if b.pool == nil {
		return false
	}
	s, total := r.shape(), b.pool.Total()
	return s.exceeds(total, b.pool.BlockSize()) || max(r.Resume, r.MaxNew) > total*b.pool.BlockSize() ||
		s.blocks(b.pool, max(s.each(r.Resume)+1, r.MaxNew)) > total
}

// fits reports whether the blocks that r needs to start are free, and how many it would share.
func (b *ledger) fits(r *Request) (reuse int, ok bool) {
	if b.pool == nil {
		return 0, true
	}
	return b.pool.Fits(b.reusable(r), b.holds(r, 1))
}

// fitsUnshared reports whether r has room even if it shares nothing.
func (b *ledger) fitsUnshared(r *Request) bool {
	return b.pool == nil || b.holds(r, 1) <= b.pool.Free()
}

// holds returns the blocks of r when one step may add so many tokens.
func (b *ledger) holds(r *Request, step int) int {
	s := r.shape()
	return s.blocks(b.pool, s.each(r.Resume)+step)
}

// stepOf returns the tokens that one step of r, which fits, may add: its whole draft window if that fits too, else one.
func (b *ledger) stepOf(r *Request) int {
	if r.Draft == 0 || b.pool == nil {
		return 1 + r.Draft
	}
	if _, ok := b.pool.Fits(b.reusable(r), b.holds(r, 1+r.Draft)); ok {
		return 1 + r.Draft
	}
	return 1
}

// reusable returns the blocks that r may share: full blocks of its prompt, but never the last token before the first
// one sampled, which must be computed.
func (b *ledger) reusable(r *Request) []kvpool.BlockHash {
	size := b.pool.BlockSize()
	full := min(r.PromptTokens, max(0, r.PromptTokens+r.Resume-1)) / size
	return r.Chain[:min(len(r.Chain), full)]
}

// reuse returns how many blocks r would share now.
func (b *ledger) reuse(r *Request) int {
	if b.pool == nil {
		return 0
	}
	return b.pool.Match(b.reusable(r))
}

// uncached returns the tokens that r has to compute before its first one if it shares so many blocks, or as much as the
// engine is known to hold. The last token of a prompt is always computed.
func (b *ledger) uncached(r *Request, reuse int) int {
	s := r.shape()
	shared := 0
	if b.pool != nil {
		shared = reuse * b.pool.BlockSize()
	}
	return r.PromptTokens + s.apart(b.pool) + r.Resume - max(shared, min(r.Held, max(0, r.PromptTokens-1)))
}

// open gives l the blocks of r, which fits.
func (b *ledger) open(l *Lease, r *Request) {
	l.step = b.stepOf(r)
	if b.pool != nil {
		n := b.holds(r, l.step)
		l.table, l.chain = b.tables.take(), b.chains.copy(b.reusable(r))
		l.table.Reserve(n)
		l.reused = b.pool.Share(l.table, l.chain)
		b.pool.Extend(l.table, n)
		l.computed, l.filled = l.reused*b.pool.BlockSize(), l.reused
		b.reserved += l.ahead()
	}
	l.uncached = b.uncached(r, l.reused)
}

// close takes all blocks of l back.
func (b *ledger) close(l *Lease) {
	if l.overcommit > 0 {
		b.overcommit -= l.overcommit
		l.overcommit = 0
		b.overcommitted = without(b.overcommitted, l)
	}
	if b.pool == nil {
		return
	}
	b.reserved -= l.ahead()
	b.pool.Release(l.table)
	if l.outdated {
		b.dropCached()
	}
	b.tables.keep(l.table)
	b.chains.keep(l.chain)
	l.table, l.chain = nil, nil
}

// seal makes the prompt's blocks ready to be shared.
func (b *ledger) seal(l *Lease) {
	for i := l.reused; i < len(l.chain); i++ { // without a pool there is no chain
		b.pool.Seal(l.table, i, l.chain[i])
	}
}

// compute notes that the prompts and what is generated are in the engine.
func (b *ledger) compute(l *Lease) {
	if b.pool == nil {
		return
	}
	b.reserved -= l.ahead()
	l.computed = max(l.computed, l.shape.prompt+l.shape.each(l.generated))
	l.filled = max(l.filled, b.blocks(l, l.generated, 0))
	b.reserved += l.ahead()
}

// blocks returns what l holds when it has generated so many tokens and each sequence may have so many more. There must
// be a pool.
func (b *ledger) blocks(l *Lease, generated, more int) int {
	return l.shape.blocks(b.pool, l.shape.each(generated)+more)
}

// grow has l hold the blocks of its tokens, and of so many more in each sequence: what is free now, and the rest
// overcommitted.
func (b *ledger) grow(l *Lease, step int) {
	if b.pool == nil {
		return
	}
	more := b.blocks(l, l.generated, step) - l.table.Len() - l.overcommit
	if more <= 0 {
		return
	}
	b.unwithhold(more - b.pool.Free())
	now := min(more, b.pool.Free())
	b.take(l, now)
	if more == now {
		return
	}
	if l.overcommit == 0 {
		b.overcommitted = append(b.overcommitted, l)
	}
	l.overcommit += more - now
	b.overcommit += more - now
}

// take adds n free blocks to l.
func (b *ledger) take(l *Lease, n int) {
	b.reserved -= l.ahead()
	b.pool.Extend(l.table, l.table.Len()+n)
	b.reserved += l.ahead()
}

// cover hands free blocks to overcommitted leases, oldest first.
func (b *ledger) cover() {
	for len(b.overcommitted) > 0 && b.pool.Free() > 0 {
		l := b.overcommitted[0]
		n := min(l.overcommit, b.pool.Free())
		b.take(l, n)
		l.overcommit -= n
		b.overcommit -= n
		if l.overcommit == 0 {
			b.overcommitted = slices.Delete(b.overcommitted, 0, 1)
		}
	}
}

// withhold makes n blocks count as reserved, or as many as are free.
func (b *ledger) withhold(n int) {
	if n < b.withheld.Len() {
		b.pool.Trim(&b.withheld, n)
		b.cover()
	}
	if more := min(n-b.withheld.Len(), b.pool.Free()); more > 0 {
		b.pool.Extend(&b.withheld, b.withheld.Len()+more)
	}
}

// unwithhold frees up to n withheld blocks, for a lease that grows.
func (b *ledger) unwithhold(n int) {
	if take := min(n, b.withheld.Len()); take > 0 {
		b.pool.Trim(&b.withheld, b.withheld.Len()-take)
	}
}

// dropCached drops the content of all free blocks.
func (b *ledger) dropCached() {
	var all kvpool.Table
	b.pool.Extend(&all, b.pool.Free())
	b.pool.Release(&all)
}

// frees returns the blocks that the end of l frees, and the tokens of it that stay in the cache because other leases
// hold them.
func (b *ledger) frees(l *Lease) (freed, kept int) {
	if b.pool == nil {
		return 0, 0
	}
	size := b.pool.BlockSize()
	freed, kept = b.pool.Loss(l.table, l.chain[:min(len(l.chain), l.computed/size)])
	return freed, kept * size
}

// free returns the free blocks beyond what is overcommitted; 0 without a pool.
func (b *ledger) free() int {
	if b.pool == nil {
		return 0
	}
	return b.pool.Free() - b.overcommit
}

// fill writes the block counts of s.
func (b *ledger) fill(s *scheduler.Stats) {
	s.Reserved = b.reserved
	if b.pool != nil {
		withheld := b.withheld.Len()
		s.Total, s.Free, s.Cached = b.pool.Total(), b.pool.Free(), b.pool.Cached()
		s.Used, s.Reserved = b.pool.Used()-b.reserved-withheld, b.reserved+withheld
	}
}

// check proves that the counts are those of leases.
func (b *ledger) check(leases []*Lease) error {
	if b.pool == nil {
		return nil
	}
	if err := b.pool.CheckTables(func(yield func(*kvpool.Table) bool) {
		if !yield(&b.withheld) {
			return
		}
		for _, l := range leases {
			if !yield(l.table) {
				return
			}
		}
	}); err != nil {
		return err
	}
	reserved, overcommit, overcommitted := 0, 0, 0
	for _, l := range leases {
		reserved += l.ahead()
		overcommit += l.overcommit
		if l.overcommit > 0 {
			overcommitted++
		}
		if l.overcommit < 0 || l.overcommit > 0 != slices.Contains(b.overcommitted, l) {
			return fmt.Errorf("%w: ticket %s is overcommitted by %d", scheduler.ErrCorrupt, l.id, l.overcommit)
		}
	}
	if reserved != b.reserved || overcommit != b.overcommit || overcommitted != len(b.overcommitted) {
		return fmt.Errorf("%w: reserved %d, overcommitted %d for %d, counted %d, %d, %d", scheduler.ErrCorrupt,
			reserved, overcommit, overcommitted, b.reserved, b.overcommit, len(b.overcommitted))
	}
	if overcommit > 0 && b.pool.Free() > 0 {
		return fmt.Errorf("%w: %d blocks are overcommitted and %d are free", scheduler.ErrCorrupt, overcommit,
			b.pool.Free())
	}
	return nil
}

func without(list []*Lease, l *Lease) []*Lease {
	i := slices.Index(list, l)
	return slices.Delete(list, i, i+1)
}
