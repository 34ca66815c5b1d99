package plugins_test

import (
	"errors"
	"testing"

	"octet/routing"
)

// What it means that no replica is left is said by the filter that removed the last one, not by its name.
func TestFiltersSayWhatItMeansThatTheyLeaveNone(t *testing.T) {
	for _, c := range []struct {
		filter routing.PluginSpec
		before func(w *world)
		want   routing.Verdict
	}{
		{routing.PluginSpec{Name: "health"}, func(w *world) { w.replica(0).SetDraining(true) }, routing.Unavailable},
		{routing.PluginSpec{Name: "concurrency", Params: map[string]any{"max": 1}},
			func(w *world) { w.replica(0).Begin() }, routing.Overloaded},
		{routing.PluginSpec{Name: "breaker"}, func(w *world) {
			for range 5 {
				if done, err := w.replica(0).Allow(); err == nil {
					done(false)
				}
			}
		}, routing.BreakerOpen},
	} {
		w := newWorld(t, 1)
		c.before(w)
		p := w.build(routing.ProfileSpec{Name: "p", Filter: []routing.PluginSpec{c.filter},
			Pick: routing.PluginSpec{Name: "max-score"}})
		_, err := p.Select(t.Context(), w.request(routing.Facts{}))
		var none *routing.NoCandidateError
		if !errors.As(err, &none) || none.Filter != c.filter.Name || none.Verdict != c.want {
			t.Errorf("%s: %v, verdict %v, want %v", c.filter.Name, err, none, c.want)
		}
	}
}
