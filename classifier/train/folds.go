package train

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"octet/classifier/model"
)

// always is the fold of what every part is trained on.
const always = -1

// family is what sources of one hand have in common: what stands before the first slash, as an organisation before its
// repositories.
func family(source string) string {
	name, _, _ := strings.Cut(source, "/")
	return name
}

// share is how much a family has of each label, as parts of all its texts.
type share struct {
	name   string
	texts  int
	labels []float64
	whole  float64
}

// deal gives each sample one of n folds, families together, so that each fold has about as much of every label. A
// family with more texts than a fold's part would leave too little to train on: it is always trained on, and never
// asked about.
func deal(samples []Sample, labels []string, n int) []int {
	of := map[string]int{}
	load := make([][]float64, n)
	for k := range load {
		load[k] = make([]float64, len(labels))
	}
	for _, f := range families(samples, labels) {
		if of[f.name] = always; f.texts > len(samples)/n {
			continue
		}
		least := 0.0
		for k, held := range load {
			if cost := f.cost(held); of[f.name] == always || cost < least {
				of[f.name], least = k, cost
			}
		}
		for c, part := range f.labels {
			load[of[f.name]][c] += part
		}
	}
	folds := make([]int, len(samples))
	for i, s := range samples {
		folds[i] = of[family(s.Source)]
	}
	return folds
}

// cost is by how much a fold that holds so much of each label gets more uneven with the family.
func (f *share) cost(held []float64) (cost float64) {
	for c, part := range f.labels {
		cost += part * (part + 2*held[c])
	}
	return cost
}

// families are those of the samples, the largest first.
func families(samples []Sample, labels []string) []share {
	total := make([]float64, len(labels))
	by := map[string]*share{}
	for _, s := range samples {
		f := by[family(s.Source)]
		if f == nil {
			f = &share{name: family(s.Source), labels: make([]float64, len(labels))}
			by[f.name] = f
		}
		c := slices.Index(labels, s.Label)
		f.texts++
		f.labels[c]++
		total[c]++
	}
	var all []share
	for _, name := range slices.Sorted(maps.Keys(by)) {
		f := by[name]
		for c := range f.labels {
			f.labels[c] /= max(total[c], 1)
			f.whole += f.labels[c]
		}
		all = append(all, *f)
	}
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Compare(b.whole, a.whole) })
	return all
}

// crossed is what samples are said to be by models that were trained without their families, in the order of folds, and
// which fold each of them is of. What no fold has is not asked about.
func crossed(c Config, samples []Sample, labels []string, reader *model.Reader) (answers []answer, of []int,
	err error) {
	folds := deal(samples, labels, c.Folds)
	topics := dealTopics(c.Questions, c.Folds)
	for k := range c.Folds {
		learnt, asked := apart(samples, folds, k)
		if len(asked) == 0 {
			continue
		}
		l := lessons{samples: withExtra(learnt, c.Extra, labels), subjects: c.Subjects}
		var questions []Sample
		l.questions, questions = apart(c.Questions, topics, k)
		a := l.fitted(labels, reader, c.Seed)
		a.Labels, a.Concepts = labels, c.Concepts
		m, err := model.New(a)
		if err != nil {
			return nil, nil, err
		}
		for i, some := range [][]Sample{asked, questions} {
			said, err := ask(m, some)
			if err != nil {
				return nil, nil, err
			}
			for j := range said {
				said[j].asked = i == 1
			}
			answers = append(answers, said...)
			of = append(of, slices.Repeat([]int{k}, len(said))...)
		}
	}
	if len(slices.Compact(slices.Clone(of))) < 2 {
		return nil, nil, fmt.Errorf("%w: of its families of sources not two can be left out in turn", ErrData)
	}
	return answers, of, nil
}

// apart is the samples without those of fold k, and these.
func apart(samples []Sample, folds []int, k int) (others, own []Sample) {
	for i, s := range samples {
		if folds[i] == k {
			own = append(own, s)
		} else {
			others = append(others, s)
		}
	}
	return others, own
}

// dealTopics gives each question one of n folds, topics together, in the order that they come in.
func dealTopics(questions []Sample, n int) []int {
	topics, folds := map[string]int{}, make([]int, len(questions))
	for i, q := range questions {
		if _, known := topics[q.Source]; !known {
			topics[q.Source] = len(topics)
		}
		folds[i] = topics[q.Source] % n
	}
	return folds
}
