package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"octet/classifier/model"
)

const bins = 15 // of the reliability diagram

// Report is how a model does on labelled texts.
type Report struct {
	MacroF1 float64 `json:"macro_f1"`
	Top1    float64 `json:"top1"`
	Top2    float64 `json:"top2"`
	// expected calibration error of the first choice, 15 bins of equal width
	ECE float64 `json:"ece"`
	// share of texts that can be decided, the surest first, with 95 % right
	CoverageAt float64 `json:"coverage_at_95"`
	LogLoss    float64 `json:"log_loss"`
	Samples    int     `json:"samples"`
	// of sources that the model was trained on: the figures say nothing of others then
	Seen     int              `json:"seen"`
	Reject   Score            `json:"reject"`
	PerClass map[string]Score `json:"per_class"`
	Tiers    map[string]Tier  `json:"tiers,omitempty"`
	Bins     []Bin            `json:"reliability"`
	Misread  map[string]int   `json:"confusion,omitempty"` // "label>answer" to how many; only those that were wrong
	Folds    []Fold           `json:"folds,omitempty"`     // of a cross-validation
	// of a cross-validation, the questions by wording, which the other figures leave out
	Questions map[string]Tier `json:"questions,omitempty"`
}

// Fold is how the models did that were trained without a part of the families of sources, on that part.
type Fold struct {
	Tier
	Top2 float64 `json:"top2"`
	ECE  float64 `json:"ece"`
}

// Score is how one class does.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	Samples   int     `json:"samples"`
}

// Tier is how one tier of the data does.
type Tier struct {
	MacroF1    float64 `json:"macro_f1"`
	Top1       float64 `json:"top1"`
	CoverageAt float64 `json:"coverage_at_95"`
	Samples    int     `json:"samples"`
}

// Bin is one bar of the reliability diagram: texts whose first choice has a probability in its range.
type Bin struct {
	Samples    int     `json:"samples"`
	Confidence float64 `json:"confidence"` // mean
	Right      float64 `json:"right"`      // share
}

// answer is a sample with what a model said of it.
type answer struct {
	label         int // true
	tier          string
	prose         bool
	asked         bool // a question, of which the figures of texts say nothing
	probabilities []float64
}

func (a *answer) first() int { return slices.Index(a.probabilities, slices.Max(a.probabilities)) }

// Evaluate asks a model about labelled texts. Errors wrap ErrData: a label that the model does not have.
func Evaluate(m *model.Model, samples []Sample) (*Report, error) {
	answers, err := ask(m, samples)
	if err != nil {
		return nil, err
	}
	r := report(answers, m.Labels())
	for _, s := range samples {
		if s.Source != "" && m.Seen(s.Source) {
			r.Seen++
		}
	}
	return r, nil
}

func ask(m *model.Model, samples []Sample) ([]answer, error) {
	answers := make([]answer, len(samples))
	for i, s := range samples {
		label := slices.Index(m.Labels(), s.Label)
		if label < 0 {
			return nil, fmt.Errorf("%w: sample %d has the label %.64q, and the model knows %q", ErrData, i+1, s.Label,
				m.Labels())
		}
		answers[i] = answer{label: label, tier: s.Tier, probabilities: make([]float64, len(m.Labels()))}
		answers[i].prose = m.Probabilities([]byte(s.Text), answers[i].probabilities)
	}
	return answers, nil
}

func report(answers []answer, labels []string) *Report {
	r := &Report{Samples: len(answers), PerClass: map[string]Score{}, Tiers: map[string]Tier{},
		Misread: map[string]int{}}
	n := float64(len(answers))
	for i := range answers {
		a := &answers[i]
		p := a.probabilities[a.label]
		r.LogLoss -= math.Log(max(p, 1e-12)) / n
		better := 0
		for _, q := range a.probabilities {
			if q > p {
				better++
			}
		}
		if better < 2 {
			r.Top2++
		}
		if first := a.first(); first != a.label {
			r.Misread[labels[a.label]+">"+labels[first]]++
		}
	}
	r.Top2 /= n
	whole := tier(answers, labels)
	r.MacroF1, r.Top1, r.CoverageAt = whole.MacroF1, whole.Top1, whole.CoverageAt
	r.Bins, r.ECE = reliability(answers)
	for c, s := range scores(answers, len(labels)) {
		r.PerClass[labels[c]] = s
	}
	r.Reject = r.PerClass[model.Reject]
	byTier := map[string][]answer{}
	for _, a := range answers {
		if a.tier != "" {
			byTier[a.tier] = append(byTier[a.tier], a)
		}
	}
	for name, of := range byTier {
		r.Tiers[name] = tier(of, labels)
	}
	return r
}

// foldReport reports on the answers of several folds, which stand in their order.
func foldReport(answers []answer, of []int, labels []string) *Report {
	var texts, questions []answer
	var parts []int
	for i, a := range answers {
		if a.asked {
			questions = append(questions, a)
		} else {
			texts, parts = append(texts, a), append(parts, of[i])
		}
	}
	r := report(texts, labels)
	r.Questions = report(questions, labels).Tiers
	answers, of = texts, parts
	for from := 0; from < len(of); {
		to := from
		for to < len(of) && of[to] == of[from] {
			to++
		}
		one := report(answers[from:to], labels)
		r.Folds = append(r.Folds, Fold{tier(answers[from:to], labels), one.Top2, one.ECE})
		from = to
	}
	return r
}

// scores are by label.
func scores(answers []answer, labels int) []Score {
	right, said, true_ := make([]float64, labels), make([]float64, labels), make([]float64, labels)
	for i := range answers {
		first := answers[i].first()
		said[first]++
		true_[answers[i].label]++
		if first == answers[i].label {
			right[first]++
		}
	}
	out := make([]Score, labels)
	for c := range out {
		out[c] = Score{Precision: right[c] / max(said[c], 1), Recall: right[c] / max(true_[c], 1),
			Samples: int(true_[c])}
		out[c].F1 = 2 * right[c] / max(said[c]+true_[c], 1)
	}
	return out
}

// tier sums up. The mean of F1 is over the classes that the answers have.
func tier(answers []answer, labels []string) (t Tier) {
	t.Samples = len(answers)
	classes := 0
	for _, s := range scores(answers, len(labels)) {
		if s.Samples > 0 {
			t.MacroF1 += s.F1
			classes++
		}
	}
	t.MacroF1 /= float64(max(classes, 1))
	t.Top1, t.CoverageAt = coverage(answers, 0.95)
	return t
}

// coverage returns the share that is right, and the largest share of the answers, the surest first, of which the given
// share is right. Answers that are as sure are decided together: no threshold tells them apart.
func coverage(answers []answer, precision float64) (right, covered float64) {
	order := slices.Clone(answers)
	slices.SortStableFunc(order,
		func(a, b answer) int { return cmp.Compare(slices.Max(b.probabilities), slices.Max(a.probabilities)) })
	n := float64(len(order))
	for i := range order {
		if order[i].first() == order[i].label {
			right++
		}
		last := i+1 == len(order) || slices.Max(order[i+1].probabilities) < slices.Max(order[i].probabilities)
		if last && right >= precision*float64(i+1) {
			covered = float64(i+1) / n
		}
	}
	return right / max(n, 1), covered
}

// reliability bins the answers by the probability of their first choice.
func reliability(answers []answer) (out []Bin, ece float64) {
	out = make([]Bin, bins)
	for i := range answers {
		p := slices.Max(answers[i].probabilities)
		b := &out[min(int(p*bins), bins-1)]
		b.Samples++
		b.Confidence += p
		if answers[i].first() == answers[i].label {
			b.Right++
		}
	}
	for i := range out {
		b := &out[i]
		if b.Samples == 0 {
			continue
		}
		ece += math.Abs(b.Confidence-b.Right) / float64(len(answers))
		b.Confidence /= float64(b.Samples)
		b.Right /= float64(b.Samples)
	}
	return out, ece
}
