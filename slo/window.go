package slo

import (
	"math"
	"time"

	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"
)

const (
	accuracy = 0.01 // relative, of a quantile
	maxBins  = 2048 // of a slot; wider than from a microsecond to a day, so none is ever collapsed
	slots    = 10   // of a window
)

// What a duration is clamped to before it is kept.
const (
	shortest = time.Microsecond
	longest  = 24 * time.Hour
)

// bins maps a duration to its bin. Cheaper than the logarithm, at the price of 1 % more bins.
var bins = func() *mapping.CubicallyInterpolatedMapping {
	m, err := mapping.NewCubicallyInterpolatedMapping(accuracy)
	if err != nil {
		panic(err) // the constant above is out of range
	}
	return m
}()

// window is the distribution of a duration over the last while: the store of one DDSketch for each tenth of it, merged
// on read. Durations are positive, so that no sketch needs its other two parts.
type window struct {
	slots [slots]*store.CollapsingLowestDenseStore
	sum   *store.CollapsingLowestDenseStore // of the slots, as of the last merge
}

func newWindow() window {
	w := window{sum: store.NewCollapsingLowestDenseStore(maxBins)}
	for i := range w.slots {
		w.slots[i] = store.NewCollapsingLowestDenseStore(maxBins)
	}
	return w
}

// add counts d in the slot at. No allocation but where the slot meets a new range of values.
func (w *window) add(at int, d time.Duration) {
	w.slots[at].Add(bins.Index(float64(min(max(d, shortest), longest))))
}

func (w *window) clear(at int) { w.slots[at].Clear() }

// merge makes sum all that the slots hold, and returns how many observations that is.
func (w *window) merge() int {
	w.sum.Clear()
	for _, s := range w.slots {
		w.sum.MergeWith(s)
	}
	return int(w.sum.TotalCount())
}

// quantile returns the q-quantile of what merge last found, which must not be nothing: the least value that q of all
// observations do not exceed (nearest rank), so that the slowest of twenty is their p99.
func (w *window) quantile(q float64) time.Duration {
	rank := max(math.Ceil(q*w.sum.TotalCount())-1, 0)
	return time.Duration(bins.Value(w.sum.KeyAtRank(rank)))
}
