package classifier

import (
	"math"
	"slices"
)

// amongAble has a request that the cascade has routed go to a specialist that can answer it: one that has its adapter,
// and takes what it holds. Nothing changes where the one that was chosen can, where none can, and where the specialist
// was declared.
func (c *Cascade) amongAble(in *Input, v *Verdict) {
	if in.Adapter == "" && in.Able == nil || v.RoutedBy == ByModel || v.RoutedBy == ByIntent ||
		c.able(in, v.Specialist) {
		return
	}
	first, second := c.bestAble(in, v.Probabilities)
	if first < 0 {
		return
	}
	const why = "of those that can answer"
	v.Shadow, v.Second, v.SecondViable, v.Cues = "", "", false, nil
	if v.Probabilities != nil {
		c.choose(v, first, second)
		v.Rule += ", " + why
		return
	}
	v.Specialist, v.RoutedBy, v.Rule, v.Confidence = c.cfg.Specialists[first], ByFallback, "the first "+why, math.NaN()
}

// able returns true if a specialist has the request's adapter, if it has one, and takes what the request holds.
func (c *Cascade) able(in *Input, specialist string) bool {
	return (in.Adapter == "" || slices.Contains(c.cfg.Adapters[specialist], in.Adapter)) &&
		(in.Able == nil || in.Able(specialist))
}

// bestAble returns the most probable specialist that is able and the next such one, by their indices; without
// probabilities the fallback comes first, and the others as they were declared. -1 is no such specialist.
func (c *Cascade) bestAble(in *Input, probabilities []float64) (first, second int) {
	first, second = -1, -1
	better := func(i, than int) bool {
		switch {
		case than < 0:
			return true
		case probabilities == nil:
			return c.cfg.Specialists[i] == c.cfg.Fallback
		}
		return probabilities[i] > probabilities[than]
	}
	for i, s := range c.cfg.Specialists {
		switch {
		case !c.able(in, s):
		case better(i, first):
			first, second = i, first
		case better(i, second):
			second = i
		}
	}
	return first, second
}
