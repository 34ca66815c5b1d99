package plugins

import (
	"slices"
	"sync/atomic"

	"octet/routing"
	"octet/routing/index"
)

// roundRobin is a Picker and a Scorer. As a Picker it takes the one whose turn it is and ranks those whose turn comes
// after. As a Scorer it rates the one whose turn it is 1 and each one after it 1/n less; the turn passes on
// whichever is picked.
//
// The rotation is over hosts, ascending, so that it stays fair while candidates come and go.
type roundRobin struct {
	named
	keep int
	turn *atomic.Uint32 // the turn is of the lowest candidate from this host on, else of the lowest of all
}

func newRoundRobin(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return roundRobin{named{"round-robin", nil}, keepParam(p), new(atomic.Uint32)}
	}
}

// Pick implements routing.Picker.
func (r roundRobin) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	at := r.next(v, len(scored), func(i int) index.HostID { return scored[i].Host })
	rotate(scored, at)
	return scored[:min(r.keep, len(scored))]
}

// Score implements routing.Scorer.
func (r roundRobin) Score(v routing.View, hosts []index.HostID, out []float64) {
	n := len(hosts)
	at := r.next(v, n, func(i int) index.HostID { return hosts[i] })
	for i := range out {
		after := (i - at + n) % n
		out[i] = 1 - float64(after)/float64(n)
	}
}

// next returns which of n hosts, ascending, has its turn, and passes the turn on.
func (r roundRobin) next(v routing.View, n int, host func(i int) index.HostID) int {
	for {
		turn, at := r.turn.Load(), 0
		for at < n && uint32(host(at)) < turn {
			at++
		}
		if at == n {
			at = 0
		}
		if v.Facts().Dry || r.turn.CompareAndSwap(turn, uint32(host(at))+1) {
			return at
		}
	}
}

// rotate moves scored[at] to the front and what was before it to the end.
func rotate(scored []routing.Scored, at int) {
	slices.Reverse(scored[:at])
	slices.Reverse(scored[at:])
	slices.Reverse(scored)
}
