package plugins

import (
	"time"

	"octet/routing"
)

// headroom is how much sooner than asked for a replica is foretold to be, in seconds; negative is late. What the
// request does not ask for is never late: its headroom is the forecast, negated, so that a quicker replica still has
// more.
type headroom struct{ ttft, itl float64 }

// wish is what a request wants, in seconds; 0 is no wish.
type wish struct{ ttft, itl float64 }

// wishOf reads the request's deadlines: what is left of the whole answer's after the first token is shared among its
// tokens.
func wishOf(f *routing.Facts) (w wish) {
	w.ttft = f.TTFT.Seconds()
	if f.Total != 0 && (f.TTFT == 0 || f.Total < f.TTFT) {
		w.ttft = f.Total.Seconds()
	}
	if f.Total != 0 && f.MaxTokens > 1 {
		w.itl = max((f.Total-max(f.TTFT, 0)).Seconds()/float64(f.MaxTokens-1), time.Microsecond.Seconds())
	}
	return w
}

func (w wish) none() bool { return w == wish{} }

func (w wish) headroom(f Forecast) headroom { return headroom{w.ttft - f.TTFT, w.itl - f.ITL} }

// met returns true if everything that is asked for is foretold to be in time. What is not foretold is not met.
func (w wish) met(f Forecast) bool {
	h := w.headroom(f)
	return f.Known && (w.ttft == 0 || h.ttft >= 0) && (w.itl == 0 || h.itl >= 0)
}
