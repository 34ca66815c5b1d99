package kvpool

// Imagined answers what the pool would have free if some tables were released, without releasing them. It counts blocks
// that the imagined tables share among themselves exactly. Make one with [Pool.Imagine], and end it with Close.
type Imagined struct {
	pool   *Pool
	shared int // leading cached blocks that the asker would share: they do not become free for it
	free   int
}

// Imagine starts from the present state, seen by one who would share the cached part of chain.
// Only one Imagined may be open on a pool, and nothing may change before it is closed.
func (p *Pool) Imagine(chain []BlockHash) Imagined {
	m := Imagined{pool: p, free: p.Free()}
	var s stretch
	for m.shared < len(chain) {
		if s = p.stretch(chain[m.shared:], s.run); s.n == 0 {
			break
		}
		id := p.part(s)
		p.imagined = append(p.imagined, id)
		one := &p.runs.all[id]
		one.drops--
		if one.refs == 0 {
			m.free -= s.n
		}
		m.shared += s.n
	}
	return m
}

// Release imagines that t is released.
func (m *Imagined) Release(t *Table) {
	t.write()
	for i := 0; i < len(t.blocks); {
		one, n := m.pool.listed(t, i)
		if one != nil {
			one.drops++
		}
		if one == nil || one.drops == one.refs {
			m.free += n
		}
		i += n
	}
}

// Undo takes an imagined release back. Releases are taken back in any order.
func (m *Imagined) Undo(t *Table) {
	t.write()
	for i := 0; i < len(t.blocks); {
		one, n := m.pool.listed(t, i)
		if one == nil || one.drops == one.refs {
			m.free -= n
		}
		if one != nil {
			one.drops--
		}
		i += n
	}
}

// Fits reports whether a table of n blocks could then be had.
func (m *Imagined) Fits(n int) bool { return n-m.shared <= m.free }

// Close clears the scratch; all imagined releases must have been undone.
func (m *Imagined) Close() {
	for _, id := range m.pool.imagined {
		m.pool.runs.all[id].drops = 0
	}
	m.pool.imagined = m.pool.imagined[:0]
}
