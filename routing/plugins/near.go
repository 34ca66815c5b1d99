package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// near scores how near a candidate is: 1 in the same finest place, 0 elsewhere. All get 1 where nothing is known of
// places.
type near struct{ named }

func newNear(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return near{named{"node-locality", reads(Distances)}} }
}

// Score implements routing.Scorer.
func (near) Score(v routing.View, hosts []index.HostID, out []float64) {
	places := Distances.Get(v)
	if places == nil {
		fill(out, 1)
		return
	}
	for i, h := range hosts {
		out[i] = 1 - float64(places.Distance[h])/float64(places.Levels)
	}
}
