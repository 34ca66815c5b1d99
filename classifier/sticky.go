package classifier

import (
	"fmt"
	"math"
	"slices"
)

// Stay returns the verdict for a conversation that held has answered so far, and whether it stays there: it does unless
// the specialist now preferred is more probable by more than cost, which is what the lost cache and a margin are worth
// as a probability. What was declared always wins. The specialist that was preferred becomes the second choice.
func (c *Cascade) Stay(v Verdict, held string, cost float64) (Verdict, bool) {
	at := slices.Index(c.cfg.Specialists, held)
	if at < 0 || held == v.Specialist || v.Adapter != "" || v.RoutedBy == ByModel || v.RoutedBy == ByIntent {
		return v, false
	}
	gain := c.gain(&v, at)
	if gain > cost {
		return v, false
	}
	v.Second, v.SecondViable = v.Specialist, false
	if v.Confidence = math.NaN(); v.Probabilities != nil {
		v.Confidence = v.Probabilities[at]
		v.SecondViable = v.Probabilities[slices.Index(c.cfg.Specialists, v.Second)] >= c.cfg.Viable
	}
	v.Specialist, v.Shadow, v.Cues = held, "", nil
	v.Rule = fmt.Sprintf("the conversation stays: %s is worth %.3f more, moving costs %.3f", v.Second, gain, cost)
	return v, true
}

// gain is by how much more probable v's specialist is than the one at an index. A detector's measured precision leaves
// the rest to all others; a verdict without a probability gains nothing.
func (c *Cascade) gain(v *Verdict, at int) float64 {
	switch {
	case v.Probabilities != nil:
		return v.Probabilities[slices.Index(c.cfg.Specialists, v.Specialist)] - v.Probabilities[at]
	case v.RoutedBy == ByDetector:
		return 2*v.Confidence - 1
	}
	return 0
}
