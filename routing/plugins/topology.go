package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// topology keeps the nearest candidates: all up to the smallest distance at which there are enough of them.
type topology struct {
	named
	enough   int
	farthest int
}

// newTopology: enough (default 1) is how many candidates must be left before nearer ones are preferred to farther ones;
// max_distance (default 16) removes what is farther away, even if that leaves none.
func newTopology(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return topology{named{"topology", reads(Distances)}, p.Int("enough", 1, 1, 1<<16),
			p.Int("max_distance", 16, 0, 16)}
	}
}

// Filter implements routing.Filter. Where nothing is known of places it keeps all.
func (t topology) Filter(v routing.View, left *index.HostBitmap) {
	places := Distances.Get(v)
	if places == nil {
		return
	}
	var near index.HostBitmap
	for d := 0; d <= min(places.Levels, t.farthest); d++ {
		for h := range left.All() {
			if int(places.Distance[h]) == d {
				near.Set(h)
			}
		}
		if near.Count() >= t.enough {
			break
		}
	}
	*left = near
}
