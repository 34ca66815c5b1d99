package gateway

import (
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

// tallyEvery is how often tallies go to the stream.
const tallyEvery = time.Minute

// keepTallies sends them on until ctx ends.
func (a *shadows) keepTallies(ctx context.Context) {
	tick := time.NewTicker(tallyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
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
