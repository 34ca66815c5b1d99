package model

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/zeebo/xxh3"

	"octet/internal/poison"
)

// Model computes a distribution over labels. It is immutable and safe for concurrent use.
type Model struct {
	labels      []string
	bias        []float64
	temperature float64
	doubt       float64
	reject      int
	concepts    *concepts
	origin      Origin

	rows     rows
	rarity   []float32
	scales   []float32
	weights  []int8    // rows × labels
	dense    []float32 // dense inputs × labels
	courtesy Courtesy
	prose    Setting // of texts that are prose; no temperature: as all others

	desks sync.Pool // of *desk. Used again: a desk is one call's of Probabilities, which returns numbers alone
}

// desk is what one text is worked out on.
type desk struct {
	notes   *notes
	counts  []uint32 // by row; all 0 between texts
	touched []uint32 // rows whose count is not 0
	found   []uint32 // by key of the notes: its row, or unknown
	sums    [maxLabels]float64
	cut     []byte // head and tail of a long text
}

// New makes a model of an artefact, whose slices it keeps. Errors wrap ErrArtefact.
func New(a *Artefact) (*Model, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	c, err := parseConcepts(a.Concepts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArtefact, err)
	}
	n, l := len(a.Keys), len(a.Labels)
	if len(a.Rarity) != n || len(a.Scales) != n || len(a.Weights) != n*l || len(a.Dense) != c.dense()*l {
		return nil, fmt.Errorf("%w: %d keys, %d weights, %d dense weights for %d labels and %d dense inputs",
			ErrArtefact, n, len(a.Weights), len(a.Dense), l, c.dense())
	}
	m := &Model{
		labels: a.Labels, bias: a.Bias, temperature: a.Temperature, doubt: a.Doubt,
		reject: slices.Index(a.Labels, Reject), concepts: c, origin: a.Origin,
		rows: newRows(a.Keys), rarity: a.Rarity, scales: a.Scales, weights: a.Weights, dense: a.Dense,
		courtesy: a.Courtesy, prose: a.Prose,
	}
	m.desks.New = func() any { return &desk{notes: newNotes(c), counts: make([]uint32, n)} }
	return m, nil
}

// Labels are in the order of the probabilities.
func (m *Model) Labels() []string { return m.labels }

// SourceKey is what an artefact keeps of the name of a source that it was trained on.
func SourceKey(name string) uint32 { return uint32(xxh3.HashString(name)) }

// Seen says whether the model was trained on texts of a source, as far as its artefact tells.
func (m *Model) Seen(source string) bool {
	_, found := slices.BinarySearch(m.origin.Keys, SourceKey(source))
	return found
}

// Origin is what the model was made from.
func (m *Model) Origin() Origin { return m.origin }

// Probabilities fills out, one value a label, their sum 1, and returns whether the text was read as short prose. It
// reads the head and the tail of a long text, 12 KiB together, leaves out sentences that are courtesy, and allocates
// nothing but on first use.
func (m *Model) Probabilities(text []byte, out []float64) (prose bool) {
	d := m.desks.Get().(*desk)
	m.sum(d, text)
	prose = d.notes.isProse()
	set := m.setting(prose)
	d.sums[m.reject] += set.Shift
	softmax(d.sums[:len(m.labels)], set.Temperature, out)
	for i := range m.labels {
		out[i] = float64((1-set.Doubt)*out[i]) + set.Doubt/float64(len(m.labels))
	}
	d.poison()
	m.desks.Put(d)
	return prose
}

// poison overwrites what is written anew for each text, where that is built in.
func (d *desk) poison() {
	poison.Bytes(d.cut)
	if poison.On {
		for i := range d.sums {
			d.sums[i] = math.NaN()
		}
	}
}

// setting is what makes sums true of prose, or of the rest.
func (m *Model) setting(prose bool) Setting {
	if prose && m.prose.Temperature > 0 {
		return m.prose
	}
	return Setting{Temperature: m.temperature, Doubt: m.doubt}
}

// Reading is a text as the model judges it: its inputs without courtesy, and the setting of its kind.
func (m *Model) Reading(text string) (Vector, Setting) {
	d := m.desks.Get().(*desk)
	defer m.desks.Put(d)
	m.note(d, []byte(text))
	var keys []uint32
	d.notes.kept(func(from, to *section) { keys = append(keys, d.notes.keys[from.keys:to.keys]...) })
	v := counted(keys)
	d.notes.each(m.concepts, func(input int, level float32) {
		v.Inputs, v.Levels = append(v.Inputs, input), append(v.Levels, level)
	})
	return v, m.setting(d.notes.isProse())
}

// note reads a text, and leaves out what is courtesy.
func (m *Model) note(d *desk, text []byte) {
	text = d.excerpt(text)
	d.notes.begin()
	d.notes.read(unsafe.String(unsafe.SliceData(text), len(text)), m.concepts) // read keeps nothing of it
	m.find(d)
	m.leaveOut(d)
	d.notes.count(m.concepts)
}

// sum leaves the labels' sums on the desk.
func (m *Model) sum(d *desk, text []byte) {
	m.note(d, text)
	sums := d.sums[:len(m.labels)]
	clear(sums)
	length := m.words(d, sums)
	for i := range sums {
		sums[i] = m.bias[i] + float64(sums[i]*length)
	}
	d.notes.each(m.concepts, func(input int, value float32) {
		for i, w := range m.dense[input*len(sums) : (input+1)*len(sums)] {
			sums[i] += float64(value) * float64(w)
		}
	})
}

// words adds up the rows of the features, each once, weighed by the logarithm of its count, and returns the factor that
// makes the features' vector one of length 1.
func (m *Model) words(d *desk, sums []float64) float64 {
	d.notes.kept(func(from, to *section) {
		for _, row := range d.found[from.keys:to.keys] {
			if row == unknown {
				continue
			}
			if d.counts[row] == 0 {
				d.touched = append(d.touched, row)
			}
			d.counts[row]++
		}
	})
	square := 0.0
	for _, row := range d.touched {
		value := (1 + logOf(d.counts[row])) * m.rarity[row]
		d.counts[row] = 0
		square += float64(value) * float64(value)
		step := float64(value) * float64(m.scales[row])
		for i, w := range m.weights[int(row)*len(sums) : (int(row)+1)*len(sums)] {
			sums[i] += step * float64(w)
		}
	}
	d.touched = d.touched[:0]
	if square == 0 {
		return 0
	}
	return 1 / math.Sqrt(square)
}

// softmax turns sums into probabilities. A sum that is no number makes them even.
func softmax(sums []float64, temperature float64, out []float64) {
	top := math.Inf(-1)
	for _, s := range sums {
		top = max(top, s)
	}
	total := 0.0
	for i, s := range sums {
		out[i] = math.Exp((s - top) / temperature)
		total += out[i]
	}
	for i := range sums {
		if out[i] /= total; math.IsNaN(out[i]) {
			out[i] = 1 / float64(len(sums))
		}
	}
}
