package core

import (
	"context"
	"fmt"
	"slices"

	"octet/kvpool"
)

// paged is an engine of which only the network is missing. At each position it writes what that position's keys and
// values depend on, the tokens up to there and the adapter, into the physical block that the item's table names; and it
// samples from everything that it reads back through the table. A block that was shared wrongly, recycled too early or
// not computed therefore changes the text. Drafts are right or wrong by a rule, and wrong ones are written too.
type paged struct {
	size    int
	cells   []uint64            // per position of each physical block
	states  map[uint64][]uint64 // of hybrids, by position: the state before it
	host    map[uint64]copied
	hybrids map[uint64]bool
	results []Result
}

func newPaged(blocks, size int) *paged {
	return &paged{size: size, cells: make([]uint64, blocks*size), states: map[uint64][]uint64{},
		host: map[uint64]copied{}, hybrids: map[uint64]bool{}}
}

func mix(a, b uint64) uint64 {
	a ^= b + 0x9E3779B97F4A7C15 + a<<6 + a>>2
	a ^= a >> 31
	return a * 0xBF58476D1CE4E5B9
}

func seed(adapter string) uint64 {
	h := uint64(len(adapter)) + 1
	for _, c := range adapter {
		h = mix(h, uint64(c))
	}
	return h
}

// token is what a sequence with these cells goes on with.
func token(attended uint64) uint32 { return uint32(attended>>40) % 50 }

// tokenBy is token, sampled by a policy at a position.
func tokenBy(p Policy, attended uint64, at int) uint32 {
	if p.Temperature > 0 {
		attended = mix(attended, mix(p.Seed, uint64(at)))
	}
	return token(attended)
}

// stops is when the model ends the text.
func stops(t uint32) bool { return t == 13 }

func (e *paged) cell(table []kvpool.BlockID, at int) *uint64 {
	return &e.cells[int(table[at/e.size])*e.size+at%e.size]
}

func (e *paged) Step(_ context.Context, b Batch) ([]Result, error) {
	e.results = e.results[:0]
	e.carry(b)
	for _, it := range b.Items {
		e.results = append(e.results, e.compute(it.Adapter, it))
	}
	return e.results, nil
}

func (e *paged) compute(adapter string, it Item) Result {
	r := Result{ID: it.ID}
	if it.Restore {
		e.restore(it)
	}
	at := it.Start
	for _, t := range it.Tokens {
		e.write(adapter, it.Table, at, t)
		e.recur(it.ID, at, t)
		at++
	}
	if !it.Samples {
		return r
	}
	next := e.sample(it, at)
	r.Tokens = append(r.Tokens, next)
	for k := range it.Draft {
		draft := next
		if mix(it.ID, uint64(at))%3 == 0 {
			draft++ // a wrong guess
		}
		e.write(adapter, it.Table, at, draft)
		at++
		if draft != next || stops(next) {
			e.scribble(adapter, it, at, it.Draft-k-1)
			break
		}
		e.recur(it.ID, at-1, draft)
		next = e.sample(it, at)
		r.Tokens = append(r.Tokens, next)
	}
	r.Stop = stops(next)
	return r
}

// copied is a hybrid's state in host memory: what is behind its cells, and the cells.
type copied struct {
	state uint64
	cells []uint64
}

// carry does what a batch asks of host memory. It forgets the device's state of the requests that gave way.
func (e *paged) carry(b Batch) {
	for _, id := range b.Discards {
		delete(e.host, id)
	}
	for _, s := range b.Snapshots {
		c := copied{state: e.states[s.ID][s.Tokens]}
		for at := range s.Tokens {
			c.cells = append(c.cells, *e.cell(s.Table, at))
		}
		e.host[s.ID] = c
		delete(e.states, s.ID)
	}
}

func (e *paged) restore(it Item) {
	c, ok := e.host[it.ID]
	if !ok || len(c.cells) != it.Start {
		panic(fmt.Sprintf("restoring %d at %d from %d cells", it.ID, it.Start, len(c.cells)))
	}
	for at, v := range c.cells {
		*e.cell(it.Table, at) = v
	}
	e.states[it.ID] = append(make([]uint64, it.Start), c.state)
}

// recur moves the state of a hybrid over the token at a position.
func (e *paged) recur(id uint64, at int, t uint32) {
	if !e.hybrids[id] {
		return
	}
	states := e.states[id]
	if at == 0 {
		states = []uint64{0}
	}
	e.states[id] = append(states[:at+1], mix(states[at], uint64(t)))
}

// scribble writes the rest of a rejected window: garbage that may never be read.
func (e *paged) scribble(adapter string, it Item, at, n int) {
	for i := range n {
		e.write(adapter, it.Table, at+i, 999)
	}
}

func (e *paged) write(adapter string, table []kvpool.BlockID, at int, t uint32) {
	before := seed(adapter)
	if at > 0 {
		before = *e.cell(table, at-1)
	}
	*e.cell(table, at) = mix(before, uint64(t))
}

// sample reads all n positions.
func (e *paged) sample(it Item, n int) uint32 {
	attended := seed(it.Adapter)
	for at := range n {
		attended = mix(attended, *e.cell(it.Table, at))
	}
	if e.hybrids[it.ID] {
		attended = mix(attended, e.states[it.ID][n])
	}
	return tokenBy(it.Policy, attended, n)
}

// alone is what r must be answered, computed without blocks, batches or neighbours.
func alone(r Request) (tokens []uint32) {
	cells := []uint64{}
	last := seed(r.Adapter)
	for _, t := range r.Tokens {
		last = mix(last, uint64(t))
		cells = append(cells, last)
	}
	for len(tokens) < r.MaxNew {
		attended := seed(r.Adapter)
		for _, c := range cells {
			attended = mix(attended, c)
		}
		if r.Hybrid {
			state := uint64(0)
			for _, t := range append(slices.Clone(r.Tokens), tokens...) {
				state = mix(state, uint64(t))
			}
			attended = mix(attended, state)
		}
		t := tokenBy(r.Policy, attended, len(cells))
		tokens = append(tokens, t)
		if stops(t) {
			break
		}
		last = mix(last, uint64(t))
		cells = append(cells, last)
	}
	return tokens
}

// transcript collects what a Core says and compares it with alone.
type transcript struct {
	requests map[uint64]Request // with the prompt as it came
	said     map[uint64][]uint32
	ended    map[uint64]Finish
}

func newTranscript() *transcript {
	return &transcript{requests: map[uint64]Request{}, said: map[uint64][]uint32{}, ended: map[uint64]Finish{}}
}

func (t *transcript) hear(o Output) error {
	want := alone(t.requests[o.ID])
	if _, known := t.requests[o.ID]; !known || t.ended[o.ID] != NotFinished {
		return fmt.Errorf("%d speaks and is not live", o.ID)
	}
	if i := len(t.said[o.ID]); o.Index != i || i >= len(want) || want[i] != o.Token {
		return fmt.Errorf("%d says %d at %d after %v, want %v", o.ID, o.Token, o.Index, t.said[o.ID], want)
	}
	t.said[o.ID] = append(t.said[o.ID], o.Token)
	finish := NotFinished
	switch {
	case stops(o.Token):
		finish = FinishStop
	case o.Index == t.requests[o.ID].MaxNew-1:
		finish = FinishLength
	}
	if o.Finish != finish {
		return fmt.Errorf("%d says %d at %d with finish %d, want %d", o.ID, o.Token, o.Index, o.Finish, finish)
	}
	t.ended[o.ID] = finish
	return nil
}
