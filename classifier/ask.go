package classifier

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrModel is why a verdict is degraded when the model gave no distribution.
var ErrModel = errors.New("the model gave no distribution")

// ask lets a trained classifier decide. Where none can, the fallback answers and the verdict says why.
func (c *Cascade) ask(ctx context.Context, in *Input, v *Verdict) error {
	probabilities, reject, err := c.distribution(ctx, in, v)
	if err != nil {
		rule := "the classifier failed"
		if errors.Is(err, ErrNoModel) {
			rule = "no classifier"
		}
		c.fall(v, rule, err)
		return nil
	}
	v.Probabilities = probabilities
	first, second := best(probabilities)
	if reject > probabilities[first] {
		if c.cfg.RejectRefuses {
			return fmt.Errorf("%w: the reject class has %.3f, %s %.3f", ErrNoSpecialist, reject,
				c.cfg.Specialists[first], probabilities[first])
		}
		v.Confidence = probabilities[first]
		c.fall(v, "reject class", nil)
		return nil
	}
	c.choose(v, first, second)
	return nil
}

// choose makes the verdict of a distribution: primary, second choice, and a shadow below the intent's threshold.
func (c *Cascade) choose(v *Verdict, first, second int) {
	v.Specialist, v.RoutedBy, v.Rule = c.cfg.Specialists[first], ByClassifier, c.rule(v)
	v.Confidence = v.Probabilities[first]
	if second < 0 {
		return
	}
	v.Second = c.cfg.Specialists[second]
	v.SecondViable = v.Probabilities[second] >= c.cfg.Viable
	if v.Confidence < v.ShadowThreshold {
		v.Shadow = v.Second
	}
}

// rule says which classifier gave the distribution.
func (c *Cascade) rule(v *Verdict) string {
	switch {
	case v.Classifier == FromHTTP:
		return "classifier over HTTP"
	case v.Outage != "":
		return "classifier, as the one over HTTP gave no answer"
	}
	return "classifier"
}

// fall makes the fallback's verdict.
func (c *Cascade) fall(v *Verdict, rule string, why error) {
	v.Specialist, v.RoutedBy, v.Rule, v.Degraded = c.cfg.Fallback, ByFallback, rule, why
}

// best returns the most probable specialist and the next, -1 where there is only one. Ties go to the lower.
func best(probabilities []float64) (first, second int) {
	second = -1
	for i, p := range probabilities {
		switch {
		case p > probabilities[first]:
			first, second = i, first
		case i != first && (second < 0 || p > probabilities[second]):
			second = i
		}
	}
	return first, second
}

// distribution checks what a model said: every value in [0, 1], their sum 1 but for rounding.
func distribution(probabilities []float64, reject float64) error {
	sum := 0.0
	for _, p := range append(probabilities[:len(probabilities):len(probabilities)], reject) {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("%w: a probability of %v", ErrModel, p)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("%w: the probabilities add up to %v", ErrModel, sum)
	}
	return nil
}

// gather is what the model reads: the parts of the input, the newest first, a blank line between them. A single part is
// not copied.
func (in Input) gather() []byte {
	var whole []byte
	parts := 0
	in.read(func(part []byte) {
		switch parts++; parts {
		case 1:
			whole = part[:len(part):len(part)]
		default:
			whole = append(append(whole, "\n\n"...), part...)
		}
	})
	return whole
}
