package routing

import "slices"

// fork returns a Context for a selection that runs beside others: it sees all that c holds. What it writes comes to c
// by join; no two selections that run side by side write the same slot, or read what the other writes.
func (c *Context) fork() *Context {
	n := len(c.forks)
	if n < cap(c.forks) {
		c.forks = c.forks[:n+1]
	} else {
		c.forks = append(c.forks, nil)
	}
	if c.forks[n] == nil {
		c.forks[n] = &Context{running: outside}
	}
	f := c.forks[n]
	f.answering = c.answering
	f.facts, f.candidates, f.generation, f.prepared, f.now = c.facts, c.candidates, c.generation, c.prepared, c.now
	f.cells = append(f.cells[:0], c.cells...)
	return f
}

// join takes over what the selection in f wrote. Cells that c had are shared with f; only new ones are f's own.
func (c *Context) join(f *Context) {
	if grown := len(f.cells) - len(c.cells); grown > 0 {
		c.cells = slices.Concat(c.cells, make([]any, grown))
	}
	for i, cell := range f.cells {
		if c.cells[i] == nil {
			c.cells[i] = cell
		}
	}
	c.prepared.join(&f.prepared)
}

// unfork readies the forks for the next request. Their cells are c's by now, or another's.
func (c *Context) unfork() {
	for _, f := range c.forks {
		clear(f.cells)
		f.facts, f.running, f.now = Facts{}, outside, nil
		f.cells, f.ranked, f.records = f.cells[:0], f.ranked[:0], f.records[:0]
	}
	c.forks, c.selections, c.hoisted = c.forks[:0], c.selections[:0], c.hoisted[:0]
}
