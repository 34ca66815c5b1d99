package gateways

import (
	"math/rand/v2"
	"slices"
	"time"

	"octet/internal/replay"
)

// Spread has requests that come at one moment of a trace come at moments of their own before the next one: traces are
// written in whole seconds, and gateways that know all but of the last moment's requests would herd by that alone.
func Spread(t replay.Trace, seed uint64) replay.Trace {
	dice := rand.New(rand.NewPCG(seed, 0x737072))
	t.Requests = slices.Clone(t.Requests)
	for from := 0; from < len(t.Requests); {
		at, to := t.Requests[from].At, from
		for to < len(t.Requests) && t.Requests[to].At == at {
			to++
		}
		if to < len(t.Requests) {
			gap := t.Requests[to].At - at
			moments := make([]time.Duration, to-from)
			for i := range moments {
				moments[i] = at + time.Duration(dice.Int64N(int64(gap)))
			}
			slices.Sort(moments)
			for i, m := range moments {
				t.Requests[from+i].At = m
			}
		}
		from = to
	}
	return t
}
