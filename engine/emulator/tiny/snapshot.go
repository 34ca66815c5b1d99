package tiny

import "octet/kvpool"

// StateBytes is what the SSM of a hybrid remembers of one sequence, however long that is.
const StateBytes = 4 * width * ssmState

// TokenBytes returns what the keys and values of one token take.
func TokenBytes(hybrid bool) int64 {
	n := int64(layers)
	if hybrid {
		n--
	}
	return n * 2 * 4 * kvWidth
}

// Snapshot is a copy of all that the cache holds of the first positions of one sequence.
type Snapshot struct {
	keys, values [layers][][kvWidth]float32
	tokens       []uint32
	state        state // after the last of them
}

// Snapshot copies the first n positions of a sequence, of which the next step would begin at n.
func (e *Engine) Snapshot(table []kvpool.BlockID, n int) *Snapshot {
	c := e.cache
	s := &Snapshot{tokens: c.history(nil, table, n)}
	if c.ends != nil {
		s.state = c.stateAt(table, n)
	}
	for l := range layers {
		for at := 0; at < n && c.keys[l] != nil; at++ {
			cell := c.cell(table, at)
			s.keys[l] = append(s.keys[l], c.keys[l][cell])
			s.values[l] = append(s.values[l], c.values[l][cell])
		}
	}
	return s
}

// Restore puts s into the blocks of table, whatever is in them, so that a step can begin where s was taken. A hybrid's
// sequence cannot be shared before that.
func (e *Engine) Restore(table []kvpool.BlockID, s *Snapshot) {
	c, n := e.cache, len(s.tokens)
	for at, t := range s.tokens {
		c.tokens[c.cell(table, at)] = t
	}
	for l := range layers {
		for at := range s.keys[l] {
			cell := c.cell(table, at)
			c.keys[l][cell], c.values[l][cell] = s.keys[l][at], s.values[l][at]
		}
	}
	if c.ends != nil && n > 0 {
		id := table[(n-1)/c.blockSize]
		c.tails[id] = c.tails[id][:0]
		c.keepState(table, n, &s.state, true)
	}
}
