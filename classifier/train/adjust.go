package train

import (
	"fmt"
	"math"
	"slices"

	"octet/classifier/model"
)

// Adjusting is a model that goes on learning from few labelled texts, without the data that it was trained on.
type Adjusting struct {
	Base    *model.Artefact
	Learnt  []Sample // a source is a group of texts that are alike
	Anchors []string // texts on which the model is to stay as it is
	Seed    uint64
}

// Adjusted says what an adjustment came to.
type Adjusted struct {
	Strength float64 `json:"strength"` // of the pull back to the base model; 0 if nothing was changed
	Before   float64 `json:"before"`   // logarithmic loss a text, of the base model
	After    float64 `json:"after"`    // the same of models that have not learnt from the text's part
	Rows     int     `json:"rows"`     // features whose weights have changed
}

// strengths are the pulls that are tried, per text: the larger, the less is changed.
var strengths = [...]float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001}

const (
	parts       = 4   // of the cross-validation that chooses the strength
	leastGroups = 8   // of texts, to adjust at all
	anchored    = 1.0 // what all anchors weigh together, beside all learnt texts
)

// Adjust returns the artefact of a model whose weights are pulled to those of the base one by a squared penalty. How
// strongly is chosen by cross-validation over groups. Weights alone are learnt, of features that the base model knows:
// its biases, temperature and doubt stay, as calibration records are no fair sample of all requests. Where no strength
// is better than the base by more than two standard errors, in its loss and in how many texts are right, the artefact
// is the base's, unchanged. Errors wrap ErrData.
func Adjust(c Adjusting) (*model.Artefact, *Adjusted, error) {
	d, err := newDesk(&c)
	if err != nil {
		return nil, nil, err
	}
	folds, groups := d.folds(c.Learnt, c.Seed)
	if groups < leastGroups {
		return nil, nil, fmt.Errorf("%w: %d groups of texts to learn from, at least %d are needed", ErrData, groups,
			leastGroups)
	}
	r := &Adjusted{}
	base, missed := d.losses(nil, folds, -1)
	r.Before, r.After = mean(base), mean(base)
	for _, s := range strengths {
		losses, misses := make([]float64, len(base)), make([]float64, len(base))
		for k := range parts {
			of, not := d.losses(d.fit(s, folds, k), folds, k)
			for i := range of {
				losses[i] += of[i]
				misses[i] += not[i]
			}
		}
		if better(base, losses) && better(missed, misses) && mean(losses) < r.After {
			r.Strength, r.After = s, mean(losses)
		}
	}
	if r.Strength == 0 {
		return c.Base, r, nil
	}
	a, rows := d.applied(d.fit(r.Strength, folds, -1))
	r.Rows = rows
	return a, r, nil
}

// better reports whether losses are below base by more than two standard errors of the mean difference.
func better(base, losses []float64) bool {
	n, gain, deviation := float64(len(base)), 0.0, 0.0
	for i := range base {
		gain += (base[i] - losses[i]) / n
	}
	for i := range base {
		deviation += math.Pow(base[i]-losses[i]-gain, 2)
	}
	return gain > 2*math.Sqrt(deviation/max(n-1, 1)/n)
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// folds gives each text one of the parts, groups together, and returns how many groups there are.
func (d *adjustDesk) folds(samples []Sample, seed uint64) (of []int, groups int) {
	names := map[string]bool{}
	for _, s := range samples {
		names[s.Source] = true
		of = append(of, int(fold(seed, s.Source)%parts))
	}
	return of, len(names)
}

// applied is the base artefact with the change added to its weights. Rows without one keep their bytes.
func (d *adjustDesk) applied(change []float64) (a *model.Artefact, rows int) {
	base, labels := d.base, len(d.base.Labels)
	next := *base
	next.Scales, next.Weights, next.Dense = slices.Clone(base.Scales), slices.Clone(base.Weights),
		slices.Clone(base.Dense)
	next.Origin.Figures = nil // they are the base's
	for at, id := range d.inputs {
		delta := change[at*labels : (at+1)*labels]
		if id >= len(base.Keys) {
			to := next.Dense[(id-len(base.Keys))*labels:]
			for c, v := range delta {
				to[c] += float32(v)
			}
			continue
		}
		rows++
		row := next.Weights[id*labels : (id+1)*labels]
		whole, top := make([]float64, labels), 0.0
		for c := range whole {
			whole[c] = float64(base.Scales[id])*float64(row[c]) + delta[c]
			top = max(top, math.Abs(whole[c]))
		}
		next.Scales[id] = float32(top / 127)
		for c := range row {
			if row[c] = 0; top > 0 {
				row[c] = int8(math.RoundToEven(whole[c] / top * 127))
			}
		}
	}
	return &next, rows
}
