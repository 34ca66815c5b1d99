package kvpool

// Imagined answers what the pool would have free if some tables were released, without releasing them. It counts blocks
// that the imagined tables share among themselves exactly. Make one with [Pool.Imagine], and end it with Close.
type Imagined struct {
	pool  *Pool
	chain []BlockHash // leading cached blocks that the asker would share: they do not become free for it
	free  int
}

// Imagine starts from the present state, seen by one who would share the cached part of chain.
// Only one Imagined may be open on a pool.
func (p *Pool) Imagine(chain []BlockHash) Imagined {
	m := Imagined{pool: p, free: p.free}
	for i, h := range chain {
		id, ok := p.prefix.find(h)
		if !ok {
			break
		}
		m.chain = chain[:i+1]
		p.drops[id]--
		if p.blocks[id].refs == 0 {
			m.free--
		}
	}
	return m
}

// Release imagines that t is released.
func (m *Imagined) Release(t *Table) {
	for _, id := range t.blocks {
		m.pool.drops[id]++
		if m.pool.drops[id] == m.pool.blocks[id].refs {
			m.free++
		}
	}
}

// Undo takes an imagined release back. Releases are taken back in any order.
func (m *Imagined) Undo(t *Table) {
	for _, id := range t.blocks {
		if m.pool.drops[id] == m.pool.blocks[id].refs {
			m.free--
		}
		m.pool.drops[id]--
	}
}

// Fits reports whether a table of n blocks could then be had.
func (m *Imagined) Fits(n int) bool { return n-len(m.chain) <= m.free }

// Close clears the scratch; all imagined releases must have been undone.
func (m *Imagined) Close() {
	for _, h := range m.chain {
		id, _ := m.pool.prefix.find(h)
		m.pool.drops[id]++
	}
}
