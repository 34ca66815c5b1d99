package routing

import (
	"context"
	"fmt"
	"sync/atomic"

	"octet/routing/index"
)

// unit is what Build resolved of one plugin.
type unit struct {
	reads   slotSet // what it writes included; both on one memory line
	writes  slotSet
	name    string
	stage   Stage
	panics  atomic.Uint64
	clamped atomic.Uint64 // scores outside [0,1], NaN included
}

type preparer struct {
	*unit
	Preparer
	always bool // for a single candidate too
}

type filter struct {
	*unit
	Filter
}

type scorer struct {
	*unit
	Scorer
	weight float64
}

type learner struct {
	*unit
	Learner
}

type picker struct {
	*unit
	Picker
}

func (u *preparer) run(ctx context.Context, c *Context, r *record) error {
	c.enter(u.unit)
	if err := u.Prepare(ctx, c); err != nil {
		return &PrepareError{Plugin: u.name, Err: err}
	}
	c.leave(r)
	return nil
}

// check panics if a replica was picked that is not left, or twice.
func (u *picker) check(picked []Scored, left *index.HostBitmap) {
	var before index.HostBitmap
	for _, s := range picked {
		// words, since a set that was just written in words stalls a copy of the whole
		word, bit := s.Host>>6, uint64(1)<<(s.Host&63)
		if left[word]&^before[word]&bit == 0 {
			panic(fmt.Sprintf("routing: %s picked replica %d, which is not a candidate or was picked before", u.name,
				s.Host))
		}
		before[word] |= bit
	}
}

// clamp returns the nearest score in [0,1], 0 for NaN, and counts.
func (u *unit) clamp(s float64) float64 {
	u.clamped.Add(1)
	if s > 1 {
		return 1
	}
	return 0
}
