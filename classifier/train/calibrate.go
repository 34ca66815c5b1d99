package train

import (
	"math"
	"slices"

	"octet/classifier/model"
)

const maxShift = 0.5

// calibrate fits what is added to the sum of reject so that the answers on dev are the most likely, then the temperature
// and the doubt so that they are true, and returns the report on dev. Only reject is moved: the kinds of texts that belong
// to nobody are endless, so a fit always has too few of them. It is moved by maxShift at most, since the share of such
// texts on dev is not the world's.
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
		if loss := leastLoss(answers, reject, by); loss < least {
			shift, least = by, loss
		}
	}
	a.Bias[reject] += shift
	a.Temperature, a.Doubt = truest(answers, reject, shift)
	if m, err = model.New(a); err != nil {
		return nil, err
	}
	return Evaluate(m, dev)
}

// leastLoss is the logarithmic loss at the best of a grid of temperatures, 1/2 to 3 in steps of 2 %, when reject is moved by
// shift.
func leastLoss(answers []answer, reject int, shift float64) float64 {
	least := math.Inf(1)
	for t := 0.5; t <= 3; t *= 1.02 {
		loss := 0.0
		for i := range answers {
			loss += answers[i].heated(t, reject, shift)
		}
		least = min(least, loss)
	}
	return least
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

// truest is the temperature, and the doubt in hundredths, at which the probability of the first choice says best how often
// it is right: one figure a text, and the one that a client sees.
func truest(answers []answer, reject int, shift float64) (temperature, doubt float64) {
	least := math.Inf(1)
	for t := 0.5; t <= 3; t *= 1.02 {
		var losses [13]float64
		for i := range answers {
			p, right := answers[i].top(t, reject, shift)
			for d := range losses {
				sure := p*(1-float64(d)/100) + float64(d)/100/float64(len(answers[i].probabilities))
				if !right {
					sure = 1 - sure
				}
				losses[d] -= math.Log(max(sure, 1e-12))
			}
		}
		for d, loss := range losses {
			if loss < least {
				least, temperature, doubt = loss, t, float64(d)/100
			}
		}
	}
	return temperature, doubt
}

// top is the largest probability of an answer at a temperature, with the sum of reject moved by shift, and whether it is
// the true label's.
func (a *answer) top(t float64, reject int, shift float64) (p float64, right bool) {
	total, first := 0.0, 0
	for c, q := range a.probabilities {
		if c == reject {
			q *= math.Exp(shift)
		}
		q = math.Pow(q, 1/t)
		if total += q; q > p {
			p, first = q, c
		}
	}
	return p / total, first == a.label
}
