package train

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"octet/classifier/model"
)

// adjustDesk is what an adjustment is worked out on: texts as the base model sees them, and what it says of them.
type adjustDesk struct {
	base   *model.Artefact
	inputs []int // that the texts have: rows, then dense inputs behind all rows; ascending
	texts  []adjustText
	learnt int // texts[:learnt] are; the others are anchors
}

// adjustText is a text with what is aimed at.
type adjustText struct {
	at     []int     // places in inputs
	values []float64 // their values
	sums   []float64 // of the base model, over the temperature of the text's kind
	aim    []float64 // a distribution over labels
	weight float64

	setting model.Setting
}

// fold spreads names evenly, in another way for each seed.
func fold(seed uint64, name string) uint64 {
	return xxh3.HashString(string(binary.LittleEndian.AppendUint64(nil, seed)) + name)
}

func newDesk(c *Adjusting) (*adjustDesk, error) {
	m, err := model.New(c.Base)
	if err != nil {
		return nil, err
	}
	d := &adjustDesk{base: c.Base, learnt: len(c.Learnt)}
	for _, s := range c.Learnt {
		label := slices.Index(c.Base.Labels, s.Label)
		if label < 0 {
			return nil, fmt.Errorf("%w: the label %.64q, and the model knows %q", ErrData, s.Label, c.Base.Labels)
		}
		t := d.text(m, s.Text)
		t.aim = make([]float64, len(c.Base.Labels))
		t.aim[label] = 1
		d.texts = append(d.texts, t)
	}
	d.weigh(c.Learnt)
	for _, text := range c.Anchors {
		t := d.text(m, text)
		t.aim = make([]float64, len(c.Base.Labels))
		spread(t.sums, t.aim)
		t.weight = anchored * float64(d.learnt) / float64(len(c.Anchors))
		d.texts = append(d.texts, t)
	}
	d.number()
	return d, d.check(m, c)
}

// check holds the desk's sums to the model's own answers.
func (d *adjustDesk) check(m *model.Model, c *Adjusting) error {
	own, said := make([]float64, len(c.Base.Labels)), make([]float64, len(c.Base.Labels))
	for i, s := range c.Learnt[:min(len(c.Learnt), 3)] {
		m.Probabilities([]byte(s.Text), said)
		spread(d.texts[i].sums, own)
		for l := range own {
			own[l] = own[l]*(1-d.texts[i].setting.Doubt) + d.texts[i].setting.Doubt/float64(len(own))
			if math.Abs(own[l]-said[l]) > 1e-3 {
				return fmt.Errorf("%w: a text has the probability %v by the artefact, %v by the model", ErrData, own[l],
					said[l])
			}
		}
	}
	return nil
}

// text is one as the base model weighs it. Its places are the numbers of inputs until number is called.
func (d *adjustDesk) text(m *model.Model, text string) (t adjustText) {
	a := d.base
	v, set := m.Reading(text)
	t.setting = set
	square, row := 0.0, 0
	for i, k := range v.Keys {
		at, known := slices.BinarySearch(a.Keys[row:], k)
		if row += at; known {
			value := float64(v.Values[i]) * float64(a.Rarity[row])
			square += value * value
			t.at, t.values = append(t.at, row), append(t.values, value)
		}
	}
	for i := range t.values {
		t.values[i] /= math.Sqrt(max(square, 1e-12))
	}
	for i, input := range v.Inputs {
		t.at, t.values = append(t.at, len(a.Keys)+input), append(t.values, float64(v.Levels[i]))
	}
	t.sums = slices.Clone(a.Bias)
	labels := len(a.Labels)
	for i, id := range t.at {
		for c := range t.sums {
			if id < len(a.Keys) {
				t.sums[c] += t.values[i] * float64(a.Scales[id]) * float64(a.Weights[id*labels+c])
			} else {
				t.sums[c] += t.values[i] * float64(a.Dense[(id-len(a.Keys))*labels+c])
			}
		}
	}
	t.sums[slices.Index(a.Labels, model.Reject)] += set.Shift
	for c := range t.sums {
		t.sums[c] /= set.Temperature
	}
	return t
}

// weigh gives the n texts of a group and the n of a label the weight of n^-½ each, with a mean of 1.
func (d *adjustDesk) weigh(samples []Sample) {
	groups, labels, total := map[string]float64{}, map[string]float64{}, 0.0
	for _, s := range samples {
		groups[s.Source]++
		labels[s.Label]++
	}
	for i, s := range samples {
		d.texts[i].weight = 1 / math.Sqrt(groups[s.Source]*labels[s.Label])
		total += d.texts[i].weight
	}
	for i := range samples {
		d.texts[i].weight *= float64(len(samples)) / total
	}
}

// number lists the inputs of all texts, and has the texts' places be places in the list.
func (d *adjustDesk) number() {
	for _, t := range d.texts {
		d.inputs = append(d.inputs, t.at...)
	}
	slices.Sort(d.inputs)
	d.inputs = slices.Compact(d.inputs)
	for _, t := range d.texts {
		for i, id := range t.at {
			t.at[i], _ = slices.BinarySearch(d.inputs, id)
		}
	}
}
