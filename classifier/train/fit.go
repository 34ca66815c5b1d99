package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"octet/classifier/model"
)

const (
	epochs     = 10
	learning   = 0.3  // Adagrad's rate in the first epoch; it falls to 0 with the last
	decay      = 1e-6 // of weights, per sight
	biasRate   = 0.01
	damping    = 0.5 // a source's n texts of a label count as n^(1-damping)
	balance    = 0.7 // a label's n texts of all sources count as n^(1-balance)
	minSources = 2   // that a hashed feature is seen in
	minTexts   = 3   // likewise
	rarePower  = 1.4 // of the logarithm of how rare a feature is, by which it is weighed
	adagrad    = 1e-4
)

// example is a sample as the fit sees it.
type example struct {
	ids    []int32   // rows, then dense inputs behind all rows
	values []float32 // the rows' make a vector of length 1
	label  int
	weight float32
}

// fit is a logistic regression in the making.
type fit struct {
	labels  int
	inputs  int // dense ones
	keys    []uint32
	rarity  []float32
	weights []float32 // (rows + dense inputs) × labels
	squares []float32 // Adagrad's
	bias    []float64
}

// newFit takes the features of vectors that enough sources have.
func newFit(vectors []model.Vector, sources []string, labels, dense int) *fit {
	type seen struct {
		last    string
		sources int
		texts   int
	}
	order := make([]int, len(vectors))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(sources[a], sources[b]) })
	all := map[uint32]*seen{}
	for _, i := range order {
		for _, k := range vectors[i].Keys {
			s := all[k]
			if s == nil {
				s = &seen{}
				all[k] = s
			}
			if s.texts == 0 || s.last != sources[i] {
				s.last = sources[i]
				s.sources++
			}
			s.texts++
		}
	}
	f := &fit{labels: labels, inputs: dense}
	for k, s := range all {
		if s.sources >= minSources && s.texts >= minTexts {
			f.keys = append(f.keys, k)
		}
	}
	slices.Sort(f.keys)
	for _, k := range f.keys {
		f.rarity = append(f.rarity,
			float32(math.Pow(math.Log(float64(len(vectors)+1)/float64(all[k].texts+1)), rarePower)))
	}
	return f
}

// blank is a fit of the same features that has learnt nothing.
func (f *fit) blank() *fit {
	n := *f
	n.weights = make([]float32, (len(f.keys)+f.inputs)*f.labels)
	n.squares = slices.Repeat([]float32{adagrad}, len(n.weights))
	n.bias = make([]float64, f.labels)
	return &n
}

// add adds one of many that are to be averaged.
func (f *fit) add(one *fit, many int) {
	for i, w := range one.weights {
		f.weights[i] += w / float32(many)
	}
	for c, b := range one.bias {
		f.bias[c] += b / float64(many)
	}
}

// example is a vector with the features that the fit has.
func (f *fit) example(v model.Vector) (e example) {
	square, row := 0.0, 0
	for i, k := range v.Keys {
		at, known := slices.BinarySearch(f.keys[row:], k)
		if row += at; !known {
			continue
		}
		value := v.Values[i] * f.rarity[row]
		square += float64(value * value)
		e.ids, e.values = append(e.ids, int32(row)), append(e.values, value)
	}
	length := float32(math.Sqrt(max(square, 1e-12)))
	for i := range e.values {
		e.values[i] /= length
	}
	for i, input := range v.Inputs {
		e.ids, e.values = append(e.ids, int32(len(f.keys)+input)), append(e.values, v.Levels[i])
	}
	return e
}

// run goes over the examples, in a new order each time, and leaves them shuffled. Each sight is of a random half of the
// words, so that no text is told by few of them: what tells a source's texts apart is often not there elsewhere.
func (f *fit) run(examples []example, seed uint64) {
	order, chance := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 2))
	slopes := make([]float64, f.labels)
	var half example
	for epoch := range epochs {
		order.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		rate := float32(learning * (1 - float64(epoch)/epochs))
		for i := range examples {
			examples[i].halve(&half, int32(len(f.keys)), chance)
			f.step(&half, rate, slopes)
		}
	}
}

// halve makes half of an example: about every other of its rows, twice as heavy, and all of its dense inputs.
func (e *example) halve(half *example, rows int32, chance *rand.Rand) {
	*half = example{half.ids[:0], half.values[:0], e.label, e.weight}
	var coins uint64
	for i, id := range e.ids {
		if i%64 == 0 {
			coins = chance.Uint64()
		}
		value := e.values[i]
		if id < rows {
			if coins>>(i%64)&1 == 0 {
				continue
			}
			value *= 2
		}
		half.ids, half.values = append(half.ids, id), append(half.values, value)
	}
}

// step moves the weights of one example's features down its slopes.
func (f *fit) step(e *example, rate float32, slopes []float64) {
	f.predict(e, slopes)
	slopes[e.label]--
	for c := range slopes {
		slopes[c] *= float64(e.weight)
		f.bias[c] -= biasRate * slopes[c]
	}
	for i, id := range e.ids {
		at := int(id) * f.labels
		weights, squares := f.weights[at:at+f.labels], f.squares[at:at+f.labels]
		for c, slope := range slopes {
			g := float32(slope)*e.values[i] + float32(decay*weights[c])
			squares[c] += float32(g * g)
			weights[c] -= float32(rate * g / float32(math.Sqrt(float64(squares[c]))))
		}
	}
}

// predict fills out with the probabilities of an example's labels.
func (f *fit) predict(e *example, out []float64) {
	copy(out, f.bias)
	for i, id := range e.ids {
		at := int(id) * f.labels
		for c, w := range f.weights[at : at+f.labels] {
			out[c] += float64(float32(e.values[i] * w))
		}
	}
	top, total := slices.Max(out), 0.0
	for c := range out {
		out[c] = math.Exp(out[c] - top)
		total += out[c]
	}
	for c := range out {
		out[c] /= total
	}
}

// artefact rounds the weights of rows to 8 bits, with a scale a row.
func (f *fit) artefact() *model.Artefact {
	a := &model.Artefact{Keys: f.keys, Rarity: f.rarity, Bias: f.bias, Temperature: 1,
		Dense: f.weights[len(f.keys)*f.labels:]}
	a.Weights = make([]int8, len(f.keys)*f.labels)
	for row := range f.keys {
		weights := f.weights[row*f.labels : (row+1)*f.labels]
		top := float32(0)
		for _, w := range weights {
			top = max(top, max(w, -w))
		}
		scale := top / 127
		a.Scales = append(a.Scales, scale)
		for c, w := range weights {
			if scale > 0 {
				a.Weights[row*f.labels+c] = int8(math.RoundToEven(float64(w / scale)))
			}
		}
	}
	return a
}
