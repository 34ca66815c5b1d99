package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"octet/classifier/model"
)

// members is how many regressions are averaged: they differ in what is cut and wrapped, what is asked, and in the order
// of the texts.
const members = 4

const (
	asksOfSubject  = 4    // questions of a subject that a member sees
	asksOfQuestion = 2    // sights of each wording of a question
	inLetters      = 0.65 // share of the questions of subjects that have courtesy around them
	questionShare  = 0.4  // what all questions weigh beside all other texts
)

// lessons are what a model learns from.
type lessons struct {
	samples   []Sample
	subjects  []Subject
	questions []Sample
}

// fitted is the artefact of the lessons, not calibrated yet.
func (l lessons) fitted(labels []string, reader *model.Reader, seed uint64) *model.Artefact {
	vectors, sources := make([]model.Vector, len(l.samples)), make([]string, len(l.samples))
	for i, s := range l.samples {
		vectors[i], sources[i] = reader.Vector(s.Text), s.Source
	}
	seen, from := slices.Clone(vectors), slices.Clone(sources)
	for _, s := range l.asked(rand.New(rand.NewPCG(seed, 5))) {
		seen, from = append(seen, reader.Vector(s.Text)), append(from, s.Source)
	}
	f := newFit(seen, from, len(labels), reader.Dense())
	mean := f.blank()
	for m := range uint64(members) {
		all := augment(l.samples, seed*members+m)
		texts := len(all)
		all = append(all, l.asked(rand.New(rand.NewPCG(seed*members+m, 4)))...)
		examples := make([]example, len(all))
		for i, s := range all {
			if i < len(vectors) {
				examples[i] = f.example(vectors[i])
			} else {
				examples[i] = f.example(reader.Vector(s.Text))
			}
			examples[i].label = slices.Index(labels, s.Label)
		}
		weigh(examples[:texts], all[:texts])
		weighAsked(examples[texts:], float64(texts)*questionShare)
		member := f.blank()
		member.run(examples, seed*members+m)
		mean.add(member, members)
	}
	a := mean.artefact()
	if len(l.subjects) > 0 {
		a.Courtesy = l.courtesy(f, reader, seed)
	}
	return a
}

// asked are the questions as one member sees them.
func (l lessons) asked(chance *rand.Rand) (all []Sample) {
	for _, s := range l.subjects {
		for range asksOfSubject {
			q := s.question(chance)
			if chance.Float64() < inLetters {
				q.Text = inLetter(q.Text, chance)
			}
			all = append(all, q)
		}
	}
	for _, q := range l.questions {
		for range asksOfQuestion {
			one := q
			switch chance.IntN(4) {
			case 0:
				one.Text = inLetter(one.Text, chance)
			case 1:
				one.Text = strings.ToLower(one.Text)
			}
			all = append(all, one)
		}
	}
	return all
}

// weigh gives the n texts that a source has of a label the weight of n^(1-damping), the n that a label has a weight of
// n^-balance each beside, and all together a mean of 1.
func weigh(examples []example, samples []Sample) {
	type origin struct{ source, label string }
	texts, of := map[origin]float64{}, map[string]float64{}
	for _, s := range samples {
		texts[origin{s.Source, s.Label}]++
		of[s.Label]++
	}
	weights, total := make([]float64, len(samples)), 0.0
	for i, s := range samples {
		weights[i] = math.Pow(texts[origin{s.Source, s.Label}], -damping) * math.Pow(of[s.Label], -balance)
		total += weights[i]
	}
	for i := range examples {
		examples[i].weight = float32(weights[i] * float64(len(samples)) / total)
	}
}

// weighAsked gives all labels the same weight, together total.
func weighAsked(examples []example, total float64) {
	texts := map[int]float64{}
	for i := range examples {
		texts[examples[i].label]++
	}
	for i := range examples {
		examples[i].weight = float32(total / float64(len(texts)) / texts[examples[i].label])
	}
}
