package train

import (
	"math"
	"slices"
)

const (
	adjustSteps  = 150
	adjustEnough = 1e-4 // the gradient's length beside the first one's, at which a fit is done
)

// fit returns the change of weights, inputs × labels, that is best for all texts but those of a part; -1 leaves none
// out. It is the one minimum of a convex loss, found by Nesterov's descent with steps that are halved where they are
// too long.
func (d *adjustDesk) fit(strength float64, folds []int, without int) []float64 {
	n := len(d.inputs) * len(d.base.Labels)
	at, ahead, next := make([]float64, n), make([]float64, n), make([]float64, n)
	slope := make([]float64, n)
	step, first, pace := 1.0, 0.0, 1.0
	for range adjustSteps {
		clear(slope)
		loss := d.loss(ahead, slope, strength, folds, without)
		square := dot(slope, slope)
		if first = max(first, square); square <= adjustEnough*adjustEnough*first {
			break
		}
		for ; ; step /= 2 {
			for i := range next {
				next[i] = ahead[i] - step*slope[i]
			}
			if d.loss(next, nil, strength, folds, without) <= loss-step/2*square || step < 1e-12 {
				break
			}
		}
		after := (1 + math.Sqrt(1+4*pace*pace)) / 2
		for i := range ahead {
			ahead[i] = next[i] + (pace-1)/after*(next[i]-at[i])
		}
		at, next, pace, step = next, at, after, step*1.5
	}
	return slices.Clone(at)
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// loss is the mean logarithmic loss with a change of weights, and the pull's; it adds the gradient to slope, unless
// that is nil.
func (d *adjustDesk) loss(change, slope []float64, strength float64, folds []int, without int) float64 {
	labels := len(d.base.Labels)
	whole := strength / 2 * dot(change, change)
	for i := range slope {
		slope[i] = strength * change[i]
	}
	p := make([]float64, labels)
	for i := range d.texts {
		t := &d.texts[i]
		if i < d.learnt && folds[i] == without {
			continue
		}
		weight := t.weight / float64(d.learnt)
		d.says(t, change, p)
		for c, aim := range t.aim {
			if aim > 0 {
				whole -= weight * aim * math.Log(max(p[c], 1e-300))
			}
		}
		if slope == nil {
			continue
		}
		for j, at := range t.at {
			for c := range p {
				slope[at*labels+c] += weight * (p[c] - t.aim[c]) * t.values[j] / t.setting.Temperature
			}
		}
	}
	return whole
}

// says fills p with the distribution of a text under a change of weights; nil means no change.
func (d *adjustDesk) says(t *adjustText, change, p []float64) {
	sums := slices.Clone(t.sums)
	for j, at := range t.at {
		if change == nil {
			break
		}
		for c, v := range change[at*len(p) : (at+1)*len(p)] {
			sums[c] += t.values[j] * v / t.setting.Temperature
		}
	}
	spread(sums, p)
}

// losses are the logarithmic losses of the learnt texts of a part, doubt included, and which of them are decided wrong;
// both are 0 of the others. -1 is all parts.
func (d *adjustDesk) losses(change []float64, folds []int, part int) (losses, missed []float64) {
	losses, missed = make([]float64, d.learnt), make([]float64, d.learnt)
	p := make([]float64, len(d.base.Labels))
	for i := range losses {
		if part >= 0 && folds[i] != part {
			continue
		}
		t := &d.texts[i]
		d.says(t, change, p)
		label := slices.Index(t.aim, 1)
		losses[i] = -t.weight * math.Log(p[label]*(1-t.setting.Doubt)+
			max(t.setting.Doubt, 1e-9)/float64(len(p)))
		if slices.Index(p, slices.Max(p)) != label {
			missed[i] = 1
		}
	}
	return losses, missed
}

// spread makes a distribution of sums.
func spread(sums, p []float64) {
	top, total := slices.Max(sums), 0.0
	for c, s := range sums {
		p[c] = math.Exp(s - top)
		total += p[c]
	}
	for c := range p {
		p[c] /= total
	}
}
