package replay

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// session is the turns of one session, as places in the trace.
type session struct {
	turns  []int
	begins bool          // its lines say when it began
	took   time.Duration // the answer to its last turn, as recorded; 0 is unknown
}

// sessions are those of a trace, in the order of their first lines.
type sessions struct {
	all   []session
	named map[string]int
}

// begin sets when sessions began that do not say so: in their order, at times drawn by how.
func (t *Trace) begin(all []session, how Reading) {
	rate := how.SessionRate
	if rate == 0 {
		rate = DefaultSessionRate
	}
	dice, at := rand.New(rand.NewPCG(how.Seed, 0x5e55)), 0.0 // seconds
	for _, s := range all {
		if s.begins {
			continue
		}
		for _, i := range s.turns {
			t.Requests[i].At += time.Duration(at * 1e9)
		}
		at += dice.ExpFloat64() / rate
	}
}

// copy plays the trace so many times, and returns the sessions of all copies. Requests that have a time of their own
// come again as much later as the trace is long.
func (t *Trace) copy(all []session, times int) []session {
	if times <= 1 {
		return all
	}
	n, ids := len(t.Requests), t.renumber(0)
	length, floating := t.length(all)
	for k := 1; k < times; k++ {
		for i := range n {
			r := t.Requests[i]
			if r.After > 0 {
				r.After += k * n
			}
			if r.Session != "" {
				r.Session = fmt.Sprintf("%s#%d", r.Session, k+1)
			}
			if !floating[i] {
				r.At += time.Duration(k) * length
			}
			r.Blocks = shifted(r.Blocks, uint64(k)*ids)
			t.Requests = append(t.Requests, r)
		}
	}
	sessions := len(all)
	for k := 1; k < times; k++ {
		for _, s := range all[:sessions] {
			turns := make([]int, len(s.turns))
			for i, turn := range s.turns {
				turns[i] = turn + k*n
			}
			all = append(all, session{turns: turns, begins: s.begins})
		}
	}
	return all
}

// length returns how long the trace is, with a mean gap behind it, and which of its requests come as long after their
// session's beginning as At says.
func (t *Trace) length(all []session) (long time.Duration, floating map[int]bool) {
	floating = map[int]bool{}
	for _, s := range all {
		for _, i := range s.turns {
			floating[i] = !s.begins
		}
	}
	for i := range t.Requests {
		if !floating[i] {
			long = max(long, t.Requests[i].At)
		}
	}
	return long + long/time.Duration(max(1, len(t.Requests)-1)), floating
}

// renumber gives the blocks ids from first on, in the order in which they appear, and returns the next id.
func (t *Trace) renumber(first uint64) (next uint64) {
	next = first
	names := map[uint64]uint64{}
	for i := range t.Requests {
		r := &t.Requests[i]
		ids := r.ids()
		for at, id := range ids {
			name, ok := names[id]
			if !ok {
				name = next
				names[id] = name
				next++
			}
			ids[at] = name
		}
		r.Blocks = spans(ids)
	}
	return next
}

// shifted returns spans of ids that are larger by so many.
func shifted(all []Span, by uint64) []Span {
	moved := make([]Span, len(all))
	for i, s := range all {
		moved[i] = Span{s.First + by, s.Count}
	}
	return moved
}
