package plugins

import (
	"slices"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// minMax scores a count by its place between the lowest (1) and the highest (0) among the candidates. All get 1 when
// equal.
type minMax struct {
	named
	count func(fleet.Load) int
}

// newQueueDepth prefers replicas with fewer requests waiting.
func newQueueDepth(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return minMax{named{"queue-depth", reads(Fleet)}, func(l fleet.Load) int { return l.Waiting }}
	}
}

// newRunningRequests prefers replicas whose engine is batching fewer requests.
func newRunningRequests(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return minMax{named{"running-requests", reads(Fleet)}, func(l fleet.Load) int { return l.Running }}
	}
}

// Score implements routing.Scorer.
func (s minMax) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		out[i] = float64(s.count(replicas.Replica(h).Load()))
	}
	lowestFirst(out)
}

// lowestFirst turns costs into scores: 1 for the lowest, 0 for the highest, by their place in between; all 1 when
// equal.
func lowestFirst(costs []float64) {
	lowest, highest := slices.Min(costs), slices.Max(costs)
	for i, cost := range costs {
		if highest == lowest {
			costs[i] = 1
		} else {
			costs[i] = (highest - cost) / (highest - lowest)
		}
	}
}
