package sim

import (
	"math/bits"
	"slices"
	"time"
)

// trace is a running hash over everything that was decided. The zero trace is ready.
type trace uint64

func (t *trace) add(values ...uint64) {
	for _, v := range values {
		*t = trace(mix(uint64(*t), v))
	}
}

// mix chains v to h: one multiplication of 64×64 bits folded (wyhash's step).
func mix(h, v uint64) uint64 {
	high, low := bits.Mul64(h^0xa0761d6478bd642f, v^0xe7037ed1a0b428db)
	return high ^ low ^ h<<1
}

// Outcome is what one run did.
type Outcome struct {
	Steps, Asked, Admitted, Finished, Cancelled, Aborted uint64
	Refused                                              map[string]int // by reason
	Preempted                                            uint64
	Snapshots, Restores                                  uint64 // of hybrid sequences to host memory, and back
	// tokens that were decoded without drafts for want of blocks or budget
	Plain             uint64
	Deadlines, Misses uint64 // promises that were given, and broken
	Waits             []time.Duration
	Trace             uint64
}

// Wait returns the q-quantile of the waits, by nearest rank; 0 when there were none.
func (o *Outcome) Wait(q float64) time.Duration {
	if len(o.Waits) == 0 {
		return 0
	}
	slices.Sort(o.Waits)
	return o.Waits[int(q*float64(len(o.Waits)-1))]
}

// RefusedInAll counts refusals of every reason.
func (o *Outcome) RefusedInAll() (n int) {
	for _, count := range o.Refused {
		n += count
	}
	return n
}
