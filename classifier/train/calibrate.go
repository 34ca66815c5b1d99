package train

import (
	"math"
	"slices"
)

const maxShift = 1.0

// settings are what makes a model's answers true.
type settings struct {
	shift       float64 // added to the sum of reject
	temperature float64
	doubt       float64
}

// both are the settings of prose, and those of code, logs and what else is not.
type both struct{ prose, rest settings }

// settleBoth fits both. A kind without answers has the settings of all answers.
func settleBoth(answers []answer, reject int) both {
	var kinds [2][]answer
	for _, a := range answers {
		kinds[a.kind()] = append(kinds[a.kind()], a)
	}
	var s [2]settings
	for i, kind := range kinds {
		if len(kind) == 0 {
			kind = answers
		}
		s[i] = settle(kind, reject)
	}
	return both{prose: s[1], rest: s[0]}
}

// kind is 1 for prose.
func (a *answer) kind() int {
	if a.prose {
		return 1
	}
	return 0
}

// of are the settings of an answer.
func (b both) of(a answer) settings {
	if a.prose {
		return b.prose
	}
	return b.rest
}

// settle fits what is added to the sum of reject so that the answers are the most likely, then the temperature and the
// doubt so that they are true. Only reject is moved: the kinds of texts that no specialist fits are endless, so a fit
// always has too few of them. It is moved by maxShift at most, since the share of such texts here is not the world's.
func settle(answers []answer, reject int) settings {
	least, shift := math.Inf(1), 0.0
	for step := -10; step <= 10; step++ {
		by := float64(step) / 10 * maxShift
		if loss := leastLoss(answers, reject, by); loss < least {
			shift, least = by, loss
		}
	}
	temperature, doubt := truest(answers, reject, shift)
	return settings{shift, temperature, doubt}
}

// The temperatures that are tried.
const (
	coldest = 0.5
	hottest = 3
)

// leastLoss is the logarithmic loss at the best temperature when reject is moved by shift. The loss has one valley over
// the inverse temperature, which is searched by thirds.
func leastLoss(answers []answer, reject int, shift float64) float64 {
	at := func(inverse float64) (loss float64) {
		for i := range answers {
			loss += answers[i].heated(1/inverse, reject, shift)
		}
		return loss
	}
	low, high := 1.0/hottest, 1.0/coldest
	for range 18 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if at(a) < at(b) {
			high = b
		} else {
			low = a
		}
	}
	return at((low + high) / 2)
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

// truest is the temperature, and the doubt in hundredths, at which the probability of the first choice says best how
// often it is right: one figure a text, and the one that a client sees.
func truest(answers []answer, reject int, shift float64) (temperature, doubt float64) {
	least := math.Inf(1)
	for t := coldest; t <= hottest; t *= 1.02 {
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

// top is the largest probability of an answer at a temperature, with the sum of reject moved by shift, and whether it
// is the true label's.
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

// applied is an answer as a model with the settings gives it.
func (s settings) applied(a answer, reject int) answer {
	p, total := make([]float64, len(a.probabilities)), 0.0
	for c, q := range a.probabilities {
		if c == reject {
			q *= math.Exp(s.shift)
		}
		p[c] = math.Pow(q, 1/s.temperature)
		total += p[c]
	}
	for c := range p {
		p[c] = p[c]/total*(1-s.doubt) + s.doubt/float64(len(p))
	}
	a.probabilities = p
	return a
}

// nested is each fold's answers with the settings that the other folds' answers ask for.
func nested(answers []answer, of []int, reject int) []answer {
	out := make([]answer, 0, len(answers))
	for k := range slices.Max(of) + 1 {
		var own, others []answer
		for i := range answers {
			if of[i] == k {
				own = append(own, answers[i])
			} else {
				others = append(others, answers[i])
			}
		}
		s := settleBoth(others, reject)
		for _, a := range own {
			out = append(out, s.of(a).applied(a, reject))
		}
	}
	return out
}
