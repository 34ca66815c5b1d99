package replay

import (
	"context"
	"fmt"
)

// Bounds of a search for the capacity.
const (
	capacityLeast = 1.0 / 64 // of Config.Rate; a policy that misses the goal even there has none
	capacityMost  = 64.0
	capacityExact = 0.005 // of Config.Rate
)

// Capacity returns the highest rate, as a multiple of the trace's own, at which nine in ten requests have their first
// token within the goal; 0 if no rate down to a small part of c.Rate does. It doubles or halves from c.Rate, then
// bisects: about a dozen replays.
func Capacity(ctx context.Context, c Config, trace Trace, by Contender) (float64, error) {
	meets := func(rate float64) (bool, error) {
		c := c
		c.Rate = rate
		r, err := Run(ctx, c, trace, by)
		if err != nil {
			return false, fmt.Errorf("at rate %g: %w", rate, err)
		}
		return r.Refused == 0 && r.TTFT.P90 <= c.Goal.TTFT.Seconds(), nil
	}
	low, high, err := bracket(c.Rate, meets)
	for err == nil && low > 0 && high-low > capacityExact*c.Rate {
		var ok bool
		middle := (low + high) / 2
		if ok, err = meets(middle); ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, err
}

// bracket returns a rate that meets the goal and a higher one that does not: 0 where none does, and twice the same
// where all do.
func bracket(rate float64, meets func(float64) (bool, error)) (low, high float64, err error) {
	ok, err := meets(rate)
	if err != nil {
		return 0, 0, err
	}
	factor := 0.5
	if ok {
		factor = 2
	}
	for at := rate * factor; at >= rate*capacityLeast && at <= rate*capacityMost; at *= factor {
		now, err := meets(at)
		if err != nil {
			return 0, 0, err
		}
		if now != ok {
			return min(at, at/factor), max(at, at/factor), nil
		}
	}
	if ok {
		return rate * capacityMost, rate * capacityMost, nil
	}
	return 0, 0, nil
}
