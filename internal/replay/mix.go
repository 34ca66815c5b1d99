package replay

import (
	"fmt"
	"slices"
	"time"
)

// Mix returns a trace of the requests of two at once. Each brings half of the work of a second that the first has
// alone, and they end with the one that ends sooner. They share no block and no session. The larger of their blocks
// must be a multiple of the smaller; the error is an ErrConfig.
func Mix(a, b Trace) (Trace, error) {
	block := min(a.Block, b.Block)
	if max(a.Block, b.Block)%block != 0 {
		return Trace{}, fmt.Errorf("%w: a mix of blocks of %d and of %d tokens", ErrConfig, a.Block, b.Block)
	}
	timing := Default().Timing
	_, first, _ := a.Sessions()
	_, second, _ := b.Sessions()
	long := [2]float64{first.Seconds(), second.Seconds()}
	work := [2]float64{a.Work().Seconds(&timing), b.Work().Seconds(&timing)}
	if long[0] <= 0 || long[1] <= 0 {
		return Trace{}, fmt.Errorf("%w: a mix with a trace that comes at once", ErrConfig)
	}
	faster := work[1] / long[1] / (work[0] / long[0])
	slower := [2]float64{2, 2 * faster}
	end := time.Duration(min(long[0]*slower[0], long[1]*slower[1]) * 1e9)
	mix, ids := Trace{Block: block}, uint64(0)
	for i, t := range []Trace{a, b} {
		t.Requests = slices.Clone(t.Requests)
		own := t.renumber(0) * uint64(t.Block/block)
		t.reblock(block)
		t.stretch(slower[i])
		for at := range t.Requests {
			t.Requests[at].Blocks = shifted(t.Requests[at].Blocks, ids)
		}
		ids += own
		mix.merge(t, string(rune('a'+i)), end)
	}
	mix.order()
	return mix, nil
}

// reblock cuts the blocks into ones of so many tokens, a divisor of t.Block.
func (t *Trace) reblock(block int) {
	parts := t.Block / block
	for i := range t.Requests {
		r := &t.Requests[i]
		left, cut := (r.Input+block-1)/block, make([]Span, 0, len(r.Blocks))
		for _, s := range r.Blocks {
			count := min(s.Count*parts, left)
			left -= count
			if count > 0 {
				cut = append(cut, Span{s.First * uint64(parts), count})
			}
		}
		r.Blocks = cut
	}
	t.Block = block
}

// stretch has requests that wait for no other come as many times later.
func (t *Trace) stretch(factor float64) {
	moved := make([]time.Duration, len(t.Requests))
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.After > 0 {
			moved[i] = moved[r.After-1]
		} else {
			moved[i] = time.Duration(float64(r.At)*factor) - r.At
		}
		r.At += moved[i]
	}
}

// merge appends the requests of another trace that come until end, and those that wait for them, as sessions of a name.
func (t *Trace) merge(other Trace, name string, end time.Duration) {
	place := make([]int, len(other.Requests)) // plus 1; 0 is left out
	for i, r := range other.Requests {
		switch {
		case r.After > 0 && place[r.After-1] == 0, r.After == 0 && r.At > end:
			continue
		case r.After > 0:
			r.After = place[r.After-1]
		}
		r.Session = name + "/" + r.Session
		t.Requests = append(t.Requests, r)
		place[i] = len(t.Requests)
	}
}
