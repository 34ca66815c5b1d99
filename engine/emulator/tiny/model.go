package tiny

import (
	"fmt"
	"math"
)

// The model's shape.
const (
	layers   = 3
	width    = 32
	heads    = 4
	headDim  = width / heads
	kvHeads  = 2 // each serves heads/kvHeads query heads
	kvWidth  = kvHeads * headDim
	hidden   = 64   // of the MLP
	rows     = 1024 // of the embedding
	rank     = 2    // of a LoRA delta
	ssmLayer = 1    // the layer that is an SSM in a hybrid
	ssmState = 4    // numbers a channel
)

// Model is the weights. Immutable, so safe for concurrent use.
type Model struct {
	seed      uint64
	hybrid    bool
	vocab     []uint32
	embedding [rows][width]float32
	layers    [layers]layer
	ssm       ssm
	norm      [width]float32
	output    [][width]float32 // one row for each of vocab
	turns     [headDim / 2]float64
}

// layer is the weights of one layer; a matrix is a list of its rows.
type layer struct {
	attentionNorm, mlpNorm [width]float32
	q, o                   [width][width]float32
	k, v                   [kvWidth][width]float32
	gate, up               [hidden][width]float32
	down                   [width][hidden]float32
}

// NewModel returns the model whose weights are drawn from seed and that says the token ids of vocab, of which the first
// ends an answer. A hybrid has an SSM in the place of one attention.
func NewModel(seed uint64, vocab []uint32, hybrid bool) *Model {
	if len(vocab) == 0 {
		panic("tiny: a model without a vocabulary")
	}
	m := &Model{seed: seed, hybrid: hybrid, vocab: vocab, output: make([][width]float32, len(vocab))}
	draw := newDice(seed, "weights")
	draw.fill(m.embedding[:], 1)
	for l := range m.layers {
		m.layers[l].draw(draw)
	}
	draw.fill(m.output, 1)
	draw.near1(m.norm[:])
	m.ssm.draw(newDice(seed, "ssm"))
	for i := range m.turns {
		m.turns[i] = math.Pow(1000, -float64(i)/float64(len(m.turns)))
	}
	return m
}

// The gains are above those of a trained model's start, so that attention is sharp and a single token tells.
func (l *layer) draw(d dice) {
	d.near1(l.attentionNorm[:])
	d.near1(l.mlpNorm[:])
	d.fill(l.q[:], 2)
	d.fill(l.k[:], 2)
	d.fill(l.v[:], 1.5)
	d.fill(l.o[:], 1.5)
	d.fill(l.gate[:], 1)
	d.fill(l.up[:], 1)
	for r := range l.down {
		d.row(l.down[r][:], 1)
	}
}

// Ends reports whether token ends an answer.
func (m *Model) Ends(token uint32) bool { return token == m.vocab[0] }

// embed sets x to the embedding of any token id: the sum of the two rows that two hashes of it name, so that of a
// million pairs of tokens about one is alike.
func (m *Model) embed(x *[width]float32, token uint32) {
	h := mix(uint64(token) ^ m.seed)
	a, b := &m.embedding[h%rows], &m.embedding[h>>32%rows]
	for i := range x {
		x[i] = a[i] + b[i]
	}
}

// pick returns the token with the largest logit after x, of equal ones the first in the vocabulary.
func (m *Model) pick(x *[width]float32) uint32 {
	var h [width]float32
	normalise(&h, x, &m.norm)
	best, top := 0, float32(math.Inf(-1))
	for i := range m.output {
		if logit := dot(m.output[i][:], h[:]); logit > top {
			best, top = i, logit
		}
	}
	if math.IsNaN(float64(top)) || math.IsInf(float64(top), 0) {
		panic(fmt.Sprintf("tiny: the largest logit is %v", top))
	}
	return m.vocab[best]
}

// feedForward adds the MLP of layer l to x.
func (m *Model) feedForward(x *[width]float32, l *layer) {
	var h [width]float32
	var inner [hidden]float32
	normalise(&h, x, &l.mlpNorm)
	for r := range inner {
		inner[r] = silu(dot(l.gate[r][:], h[:])) * dot(l.up[r][:], h[:])
	}
	for r := range x {
		x[r] += dot(l.down[r][:], inner[:])
	}
}

// rotate turns the pairs of one head's numbers by angles that grow with the position.
func (m *Model) rotate(head []float32, at int) {
	for i, turn := range m.turns {
		sin, cos := math.Sincos(float64(at) * turn)
		a, b := float64(head[2*i]), float64(head[2*i+1])
		head[2*i] = float32(float64(a*cos) - float64(b*sin))
		head[2*i+1] = float32(float64(a*sin) + float64(b*cos))
	}
}
