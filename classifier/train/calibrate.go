package train

import (
	"math"
	"slices"

	"octet/classifier/model"
)

const maxShift = 0.5

// calibrate sets the temperature of a, and what is added to the sum of reject, to what makes the answers on dev the most
// likely, and returns the report on dev. Only reject is moved: the kinds of texts that belong to nobody are endless, so a
// fit always has too few of them. It is moved by maxShift at most, since the share of such texts on dev is not the world's.
func calibrate(a *model.Artefact, dev []Sample) (*Report, error) {
	m, err := model.New(a)
	if err != nil {
		return nil, err
	}
	answers, err := ask(m, dev)
	if err != nil {
		return nil, err
	}
	reject := slices.Index(a.Labels, model.Reject)
	least, shift := math.Inf(1), 0.0
	for step := -10; step <= 10; step++ {
		by := float64(step) / 10 * maxShift
		if t, loss := temperature(answers, reject, by); loss < least {
			a.Temperature, shift, least = t, by, loss
		}
	}
	a.Bias[reject] += shift
	if m, err = model.New(a); err != nil {
		return nil, err
	}
	return Evaluate(m, dev)
}

// temperature is the best of a grid from 1/2 to 3, in steps of 1 %, when reject is moved by shift, and the mean loss there.
func temperature(answers []answer, reject int, shift float64) (best, least float64) {
	least = math.Inf(1)
	for t := 0.5; t <= 3; t *= 1.01 {
		loss := 0.0
		for i := range answers {
			loss += answers[i].heated(t, reject, shift)
		}
		if loss < least {
			best, least = t, loss
		}
	}
	return best, least
}

// heated is the logarithmic loss of an answer at a temperature, with the sum of reject moved by shift.
func (a *answer) heated(t float64, reject int, shift float64) float64 {
	total := 0.0
	for c, p := range a.probabilities {
		if c == reject {
			p *= math.Exp(shift)
		}
		total += math.Pow(p, 1/t)
	}
	own := a.probabilities[a.label]
	if a.label == reject {
		own *= math.Exp(shift)
	}
	return math.Log(total) - math.Log(max(own, 1e-12))/t
}
