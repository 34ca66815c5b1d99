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
	at := c.leaves(&v, held)
	if at < 0 {
		return v, false
	}
	gain := c.gain(&v, at)
	if gain > cost {
		return v, false
	}
	c.hold(&v, at)
	v.Rule = fmt.Sprintf("the conversation stays: %s is worth %.3f more, moving costs %.3f", v.Second, gain, cost)
	return v, true
}

// StayInLoop is Stay for a conversation that is within a loop of tool calls: it stays whatever is gained, and has no
// second choice that may answer.
func (c *Cascade) StayInLoop(v Verdict, held string) (Verdict, bool) {
	at := c.leaves(&v, held)
	if at >= 0 {
		c.hold(&v, at)
		v.Rule = fmt.Sprintf("the conversation stays: its tool loop is with %s, not with %s", held, v.Second)
	}
	if v.Specialist == held {
		v.SecondViable = false
	}
	return v, at >= 0
}

// leaves returns the index of held if v would take a conversation from it, and may be changed; otherwise -1.
func (c *Cascade) leaves(v *Verdict, held string) int {
	if held == v.Specialist || v.Adapter != "" || v.RoutedBy == ByModel || v.RoutedBy == ByIntent {
		return -1
	}
	return slices.Index(c.cfg.Specialists, held)
}

// hold makes v a verdict for the specialist at an index, and what it was for the second choice.
func (c *Cascade) hold(v *Verdict, at int) {
	v.Second, v.SecondViable = v.Specialist, false
	if v.Confidence = math.NaN(); v.Probabilities != nil {
		v.Confidence = v.Probabilities[at]
		v.SecondViable = v.Probabilities[slices.Index(c.cfg.Specialists, v.Second)] >= c.cfg.Viable
	}
	v.Specialist, v.Shadow, v.Cues = c.cfg.Specialists[at], "", nil
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
