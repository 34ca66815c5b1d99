package kvpool

// Loss returns what releasing t would free, and how many leading blocks of chain some other table would still hold, so
// that they are sure to be found again. Cached blocks that no other table holds are not counted: they are the first to
// be evicted when blocks are short. Chain names what t's first blocks hold. One step a run and one a private block.
func (p *Pool) Loss(t *Table, chain []BlockHash) (freed, kept int) {
	t.materialize()
	for i := 0; i < len(t.blocks); {
		one, n := p.runAt(t, i)
		if one == nil || one.refs == 1 {
			freed += n
		}
		i += n
	}
	var s match
	for kept < len(chain) {
		if s = p.matchRun(chain[kept:], s.run); s.n == 0 {
			break
		}
		one := &p.runs.all[s.run]
		others := one.refs
		if t.blocks[kept] == p.runs.ids[s.run][s.at] {
			others--
		}
		if others == 0 {
			break
		}
		kept += s.n
	}
	return freed, kept
}

// runAt returns the run that t, which is materialized, lists from block i on, and how many blocks it has; for a private
// block nil and 1.
func (p *Pool) runAt(t *Table, i int) (*run, int) {
	if id := p.blocks[t.blocks[i]].run; id > private {
		one := &p.runs.all[id]
		return one, int(one.size)
	}
	return nil, 1
}
