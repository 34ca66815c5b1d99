package gateway

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"octet/calibration"
	"octet/classifier"
)

// tally counts a request that the classifier has decided.
func (a *shadows) tally(v *classifier.Verdict) {
	if a.stream == nil || v.RoutedBy != classifier.ByClassifier {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tallies[v.Intent]
	if t == nil {
		t = &calibration.Tally{Intent: v.Intent}
		a.tallies[v.Intent] = t
	}
	t.Threshold = v.ShadowThreshold
	t.Counts[calibration.Bucket(v.Confidence)]++
}

// keepTallies sends them on until ctx ends, at the interval of the configuration in force.
func (a *shadows) keepTallies(ctx context.Context) {
	for {
		next := time.NewTimer(cmp.Or(a.s.Runtime().Shadow.TallyInterval, time.Minute))
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
			a.flush()
		}
	}
}

// flush sends all tallies on and begins new ones.
func (a *shadows) flush() {
	a.mu.Lock()
	tallies := a.tallies
	a.tallies = map[string]*calibration.Tally{}
	a.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		a.offer(calibration.Record{Tally: tallies[name]})
	}
}
