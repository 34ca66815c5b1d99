package train

import (
	"math"
	"math/rand/v2"

	"octet/classifier/model"
)

const (
	courtesies = 12000 // sentences of courtesy that are learnt from
	plainTexts = 3     // one text in so many is learnt from as the other class
	surePolite = 1.5   // the logarithm of the odds below which a sentence is kept
)

// polite are the kinds of frames, as often as they are learnt from.
var polite = [...]string{"greet", "intro", "intro", "lead", "close", "close", "thanks", "sign", "system", "after"}

// courtesy learns to tell sentences of frames from those of questions and of all other texts. It weighs the features
// that f has.
func (l lessons) courtesy(f *fit, reader *model.Reader, seed uint64) model.Courtesy {
	chance := rand.New(rand.NewPCG(seed, 6))
	two := *f
	two.labels, two.inputs = 2, 0
	fit := two.blank()
	var examples []example
	var texts [2]float32
	learn := func(text string, label int) {
		for _, v := range reader.Sections(text) {
			e := fit.example(v)
			e.label = label
			texts[label]++
			examples = append(examples, e)
		}
	}
	for range courtesies {
		learn(frame(polite[chance.IntN(len(polite))], chance), 1)
	}
	for _, s := range l.subjects {
		for range asksOfSubject {
			learn(s.question(chance).Text, 0)
		}
	}
	for _, q := range l.questions {
		switch q.Tier {
		case WordingPlain, WordingLower, WordingTerse, WordingTypos:
			learn(q.Text, 0)
		}
	}
	for _, s := range l.samples {
		if chance.IntN(plainTexts) == 0 {
			learn(s.Text, 0)
		}
	}
	for i := range examples {
		examples[i].weight = float32(len(examples)) / 2 / texts[examples[i].label]
	}
	fit.run(examples, seed)
	return fit.courtesy()
}

// courtesy rounds what tells the second label from the first to 8 bits.
func (f *fit) courtesy() model.Courtesy {
	apart, top := make([]float64, len(f.keys)), 0.0
	for row := range f.keys {
		apart[row] = float64(f.weights[2*row+1] - f.weights[2*row])
		top = max(top, math.Abs(apart[row]))
	}
	c := model.Courtesy{Scale: max(top, 1e-9) / 127, Bias: f.bias[1] - f.bias[0] - surePolite,
		Weights: make([]int8, len(f.keys))}
	for row, w := range apart {
		c.Weights[row] = int8(math.RoundToEven(w / c.Scale))
	}
	return c
}
