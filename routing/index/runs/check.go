package runs

import (
	"errors"
	"fmt"

	"octet/routing/index"
)

// Check proves the invariants of the package comments and returns the breaches that it finds. It reads everything while
// changes wait: for tests and operators, not for the request path.
func (x *Indexer) Check() error {
	for i := range x.hosts {
		x.hosts[i].mu.RLock()
		defer x.hosts[i].mu.RUnlock()
	}
	t := x.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	faults := []error{t.check()}
	for i := range x.hosts {
		id, h := index.HostID(i), &x.hosts[i]
		if len(h.elsewhere) > 0 && !x.below.Has(id) {
			faults = append(faults, fmt.Errorf("host %d: tiers that are not reported", id))
		}
		for b, s := range h.elsewhere {
			if s == 0 || s == onGPU || x.IsAlive(id) && !t.holds(id, b) {
				faults = append(faults, fmt.Errorf("host %d: tiers %b of %x, held: %v", id, s, b, t.holds(id, b)))
			}
		}
	}
	return errors.Join(faults...)
}

// check counts again what t counts as it goes, and finds each block where the tables say that it is.
func (t *tree) check() error {
	var faults []error
	var held [index.MaxHosts]int
	runs, entries := 0, 0
	t.each(func(r *run, s *holders) {
		runs++
		entries += s.len
		faults = append(faults, s.check(), t.checkRun(r))
		s.each(func(h index.HostID, from, to int) { held[h] += to - from })
	})
	if runs != t.live || entries != t.entries || held != t.held {
		faults = append(faults, fmt.Errorf("%d runs, %d blocks; counted %d, %d; held %v, counted %v", runs, entries,
			t.live, t.entries, held, t.held))
	}
	if t.heads.count() != runs || t.blocks.count() != entries {
		faults = append(faults, fmt.Errorf("%d heads and %d blocks in the tables, want %d and %d", t.heads.count(),
			t.blocks.count(), runs, entries))
	}
	return errors.Join(faults...)
}

// checkRun finds a run that its tables do not know, or know elsewhere.
func (st *storage) checkRun(r *run) error {
	hashes := blocksOf(st.hashes(r))
	if uint64(hashes[0]) != r.first || uint64(hashes[len(hashes)-1]) != r.last || r.seq&1 != 0 {
		return fmt.Errorf("a run from %x to %x, whose header says %x to %x, seq %d", hashes[0], hashes[len(hashes)-1],
			r.first, r.last, r.seq)
	}
	var g runSnapshot
	if st.lookup(hashes, &g) != seen || g.n != len(hashes) {
		return fmt.Errorf("readers do not find the run of %d blocks from %x", len(hashes), r.first)
	}
	for i, b := range hashes {
		if id, off := st.find(b); id == 0 || st.at(id) != r || off != i {
			return fmt.Errorf("block %d of the run from %x is found at %d of run %d", i, r.first, off, id)
		}
	}
	return nil
}

// check finds reaches and fragments that are not as the type promises, and blocks without a holder.
func (s *holders) check() error {
	if s.crowded() {
		return fmt.Errorf("%d parts, %d isles", len(s.prefixes), len(s.fragments))
	}
	if gaps := s.gaps(0, s.len, nil); len(gaps) > 0 {
		return fmt.Errorf("no host holds %v of %d blocks", gaps, s.len)
	}
	known := s.full
	for _, p := range s.prefixes {
		if known.Has(p.host) || p.reach == 0 || int(p.reach) >= s.len {
			return fmt.Errorf("host %d reaches %d of %d, known: %v", p.host, p.reach, s.len, known.Has(p.host))
		}
		known.Set(p.host)
	}
	for n, i := range s.fragments {
		if i.from >= i.to || int(i.to) > s.len || int(i.from) <= s.reach(i.host) {
			return fmt.Errorf("isle %+v of %d blocks, reach %d", i, s.len, s.reach(i.host))
		}
		for _, o := range s.fragments[:n] {
			if o.host == i.host && o.from <= i.to && i.from <= o.to {
				return fmt.Errorf("isles %+v and %+v touch", o, i)
			}
		}
	}
	return nil
}
