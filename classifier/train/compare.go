package train

import (
	"math"
	"slices"

	"octet/classifier/model"
)

// Change is what taking one model in another's place would change on labelled texts.
type Change struct {
	Samples int     `json:"samples"`
	Before  *Report `json:"before"`
	After   *Report `json:"after"`
	Changed int     `json:"changed"` // texts whose first choice is another one
	Gained  int     `json:"gained"`  // that are right now, and were wrong
	Lost    int     `json:"lost"`    // that are wrong now, and were right
	// that so uneven a split of gained and lost is chance: the sign test, two-sided
	Chance float64        `json:"chance"`
	Moves  map[string]int `json:"moves"` // "from>to" to how many
}

// Compare asks two models of the same labels about texts. Errors wrap ErrData.
func Compare(before, after *model.Model, samples []Sample) (*Change, error) {
	c := &Change{Samples: len(samples), Moves: map[string]int{}, Chance: 1}
	if len(samples) == 0 {
		return c, nil
	}
	var err error
	if c.Before, err = Evaluate(before, samples); err != nil {
		return nil, err
	}
	if c.After, err = Evaluate(after, samples); err != nil {
		return nil, err
	}
	for _, s := range samples {
		from, to := first(before, s.Text), first(after, s.Text)
		if from == to {
			continue
		}
		c.Changed++
		c.Moves[from+">"+to]++
		switch s.Label {
		case to:
			c.Gained++
		case from:
			c.Lost++
		}
	}
	c.Chance = signTest(c.Gained, c.Lost)
	return c, nil
}

// Moved is how many of the texts have another first choice.
func Moved(before, after *model.Model, texts []string) (n int) {
	for _, t := range texts {
		if first(before, t) != first(after, t) {
			n++
		}
	}
	return n
}

func first(m *model.Model, text string) string {
	p := make([]float64, len(m.Labels()))
	m.Probabilities([]byte(text), p)
	return m.Labels()[slices.Index(p, slices.Max(p))]
}

// signTest is the probability that a fair coin falls at least as unevenly.
func signTest(a, b int) float64 {
	n, sum := a+b, 0.0
	whole, _ := math.Lgamma(float64(n + 1))
	for k := 0; k <= min(a, b); k++ {
		x, _ := math.Lgamma(float64(k + 1))
		y, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(whole - x - y - float64(n)*math.Ln2)
	}
	return min(1, 2*sum)
}
