package kvpool

// Imagined answers what the pool would have free if some tables were released, without releasing them. Blocks that the
// imagined tables share among themselves are counted exactly. Make one with [Pool.Imagine], and end it with Close.
type Imagined struct {
	pool   *Pool
	shared int // leading cached blocks that the asker would share: they do not become free for it
	free   int
}

// Imagine starts from the present state, for a request that would share the cached part of chain. Only one Imagined may
// be open on a pool, and nothing may change before it is closed.
func (p *Pool) Imagine(chain []BlockHash) Imagined {
	m := Imagined{pool: p, free: p.Free()}
	var s match
	for m.shared < len(chain) {
		if s = p.matchRun(chain[m.shared:], s.run); s.n == 0 {
			break
		}
		id := p.isolate(s)
		p.imaginedRuns = append(p.imaginedRuns, id)
		one := &p.runs.all[id]
		one.imagined--
		if one.refs == 0 {
			m.free -= s.n
		}
		m.shared += s.n
	}
	return m
}

// Release counts t as released.
func (m *Imagined) Release(t *Table) {
	t.materialize()
	for i := 0; i < len(t.blocks); {
		one, n := m.pool.runAt(t, i)
		if one != nil {
			one.imagined++
		}
		if one == nil || one.imagined == one.refs {
			m.free += n
		}
		i += n
	}
}

// Undo counts t as not released again. Releases are undone in any order.
func (m *Imagined) Undo(t *Table) {
	t.materialize()
	for i := 0; i < len(t.blocks); {
		one, n := m.pool.runAt(t, i)
		if one == nil || one.imagined == one.refs {
			m.free -= n
		}
		if one != nil {
			one.imagined--
		}
		i += n
	}
}

// Fits returns true if a table of n blocks could then be had.
func (m *Imagined) Fits(n int) bool { return n-m.shared <= m.free }

// Close clears the scratch; all imagined releases must have been undone.
func (m *Imagined) Close() {
	for _, id := range m.pool.imaginedRuns {
		m.pool.runs.all[id].imagined = 0
	}
	m.pool.imaginedRuns = m.pool.imaginedRuns[:0]
}
