package train

import (
	"math"
	"slices"

	"octet/classifier/model"
)

// calibrate sets the temperature of a to what makes the answers on dev the most likely, and returns the report on dev.
func calibrate(a *model.Artefact, dev []Sample) (*Report, error) {
	m, err := model.New(a)
	if err != nil {
		return nil, err
	}
	answers, err := ask(m, dev)
	if err != nil {
		return nil, err
	}
	a.Temperature = temperature(answers)
	if m, err = model.New(a); err != nil {
		return nil, err
	}
	return Evaluate(m, dev)
}

// temperature is the best of a grid from 1/4 to 4, in steps of 1 %.
func temperature(answers []answer) float64 {
	best, least := 1.0, math.Inf(1)
	for t := 0.25; t <= 4; t *= 1.01 {
		loss := 0.0
		for i := range answers {
			loss += heated(answers[i].probabilities, answers[i].label, t)
		}
		if loss < least {
			best, least = t, loss
		}
	}
	return best
}

// heated is the logarithmic loss of a distribution at a temperature.
func heated(probabilities []float64, label int, t float64) float64 {
	top, total := math.Log(max(slices.Max(probabilities), 1e-300)), 0.0
	for _, p := range probabilities {
		total += math.Exp((math.Log(max(p, 1e-300)) - top) / t)
	}
	return math.Log(total) - (math.Log(max(probabilities[label], 1e-300))-top)/t
}
