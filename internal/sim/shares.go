package sim

import "fmt"

// shares checks the bound of fair queueing: in any time in which two tenants have requests waiting, the tokens that
// they started, each over its weight, change against each other by no more than the largest request of each.
type shares struct {
	on      bool
	weights []float64
	waiting []int     // by tenant: accepted, and in no batch yet
	tokens  []float64 // by tenant: started, over its weight
	largest []float64 // by tenant: request, over its weight
	apart   [][]span  // by two tenants, the lower first
}

// rounded is what a scheduler's rounding may add.
const rounded = 0.01

// span is between which values a difference was while both had requests waiting.
type span struct {
	low, high float64
	open      bool
}

func newShares(plan *CorePlan) shares {
	n := plan.Load.Tenants
	s := shares{
		on:      plan.Seen && plan.Load.Priorities == 1 && plan.Core.Aging == 0 && plan.Core.Weights != nil,
		waiting: make([]int, n), tokens: make([]float64, n), largest: make([]float64, n), apart: make([][]span, n),
	}
	for i := range n {
		s.apart[i] = make([]span, n)
		if s.on {
			s.weights = append(s.weights, float64(plan.Core.Weights(tenants[i])))
		}
	}
	return s
}

// started notes that a request of tenant starts, of which so many tokens were not cached.
func (s *shares) started(tenant, tokens int) error {
	if !s.on {
		return nil
	}
	for i := range s.waiting {
		s.widen(i, tenant)
	}
	cost := float64(tokens) / s.weights[tenant]
	s.tokens[tenant] += cost
	s.largest[tenant] = max(s.largest[tenant], cost)
	for i := range s.waiting {
		s.widen(i, tenant)
		lower, upper := min(i, tenant), max(i, tenant)
		apart, bound := s.apart[lower][upper], s.largest[i]+s.largest[tenant]+rounded
		if i != tenant && apart.high-apart.low > bound {
			return fmt.Errorf("shares: between %s and %s it went from %.1f to %.1f, %.1f is allowed",
				tenants[lower], tenants[upper], apart.low, apart.high, bound)
		}
	}
	s.left(tenant)
	return nil
}

// widen takes the present difference in, if both have requests waiting.
func (s *shares) widen(i, j int) {
	if i == j || s.waiting[i] == 0 || s.waiting[j] == 0 {
		return
	}
	i, j = min(i, j), max(i, j)
	at, d := &s.apart[i][j], s.tokens[i]-s.tokens[j]
	if !at.open {
		*at = span{d, d, true}
	}
	at.low, at.high = min(at.low, d), max(at.high, d)
}

// left notes that one of tenant does not wait any more.
func (s *shares) left(tenant int) {
	if s.waiting[tenant]--; s.waiting[tenant] > 0 {
		return
	}
	for i := range s.waiting {
		s.apart[min(i, tenant)][max(i, tenant)].open = false
	}
}
