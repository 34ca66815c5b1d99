package kvpool

// Loss returns what releasing t would free, and how many leading blocks of chain some other table would still hold, so
// that they are sure to be found again. Cached blocks that nobody else holds are not counted: whoever is short of
// blocks takes them next. Chain names what t's first blocks hold. One step a run and one a private block.
func (p *Pool) Loss(t *Table, chain []BlockHash) (freed, kept int) {
	t.write()
	for i := 0; i < len(t.blocks); {
		one, n := p.listed(t, i)
		if one == nil || one.refs == 1 {
			freed += n
		}
		i += n
	}
	var s stretch
	for kept < len(chain) {
		if s = p.stretch(chain[kept:], s.run); s.n == 0 {
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

// listed returns the run that t, which is written, lists from block i on, and how many blocks it is; of a private block
// none and 1.
func (p *Pool) listed(t *Table, i int) (*run, int) {
	if id := p.blocks[t.blocks[i]].run; id > private {
		one := &p.runs.all[id]
		return one, int(one.size)
	}
	return nil, 1
}
