package tiny

import (
	"slices"

	"octet/kvpool"
)

// maxAdapters is how many adapters' weights are kept; beyond it all are drawn again when they are asked for.
const maxAdapters = 256

// Engine computes spans of sequences over one cache. Not safe for concurrent use.
type Engine struct {
	model    *Model
	cache    *cache
	adapters map[string]*lora

	x      [width]float32 // of the position at hand
	state  state          // of the sequence at hand
	scores []float32
	past   []uint32
	drafts []uint32
	picks  []uint32
	likely []chance // scratch of sample
}

// NewEngine returns an engine with an empty cache of blocks of blockSize tokens.
func NewEngine(m *Model, blocks, blockSize int) *Engine {
	return &Engine{model: m, cache: newCache(m, blocks, blockSize), adapters: make(map[string]*lora)}
}

// Span is one sequence's part of a step.
type Span struct {
	Adapter string           // "" is the base model
	Table   []kvpool.BlockID // block table, with room for Tokens and Draft
	Start   int              // position of Tokens[0]
	Tokens  []uint32         // to compute
	Samples bool             // the last of Tokens yields a token
	Policy  Policy           // how what it yields is sampled
	Draft   int              // tokens that may be guessed and verified after Tokens, when it samples
}

// Compute appends to dst the tokens that s yields: none, or the one after Tokens, and behind it those of the guesses
// that are what the model says. stop is set when the last of them ends the answer. O(len(Tokens) · context).
func (e *Engine) Compute(dst []uint32, s Span) (tokens []uint32, stop bool) {
	a := e.weights(s.Adapter)
	if e.model.hybrid {
		e.state = e.cache.stateAt(s.Table, s.Start)
	}
	end := s.Start + len(s.Tokens)
	for i, t := range s.Tokens {
		e.position(a, s.Table, s.Start+i, t, s.Start+i+1 == end)
	}
	if !s.Samples {
		return dst, false
	}
	next := e.model.sample(&e.x, s.Policy, end, &e.likely)
	e.guess(a, s)
	dst = append(dst, next)
	for i, draft := range e.drafts {
		if draft != next || e.model.Ends(next) {
			break
		}
		next = e.picks[i]
		dst = append(dst, next)
	}
	return dst, e.model.Ends(next)
}

// guess computes what s may be followed by: picks[i] is what the model says after drafts[:i+1].
func (e *Engine) guess(a *lora, s Span) {
	e.drafts, e.picks = e.drafts[:0], e.picks[:0]
	if s.Draft == 0 {
		return
	}
	end := s.Start + len(s.Tokens)
	e.past = e.cache.history(e.past[:0], s.Table, end)
	e.drafts = lookUp(e.drafts, e.past, s.Draft)
	for i, t := range e.drafts {
		e.position(a, s.Table, end+i, t, true)
		e.picks = append(e.picks, e.model.sample(&e.x, s.Policy, end+i+1, &e.likely))
	}
}

// weights returns an adapter's weights.
func (e *Engine) weights(adapter string) *lora {
	a, known := e.adapters[adapter]
	if !known {
		if len(e.adapters) == maxAdapters {
			clear(e.adapters)
		}
		a = e.model.adapter(adapter)
		e.adapters[adapter] = a
	}
	return a
}

// position computes token t at position at, which leaves its keys and values in the cache and its activation in x.
// A step may begin after it when begins is set.
func (e *Engine) position(a *lora, table []kvpool.BlockID, at int, t uint32, begins bool) {
	m := e.model
	e.cache.tokens[e.cache.cell(table, at)] = t
	m.embed(&e.x, t)
	for l := range m.layers {
		var h [width]float32
		normalise(&h, &e.x, &m.layers[l].attentionNorm)
		if m.hybrid && l == ssmLayer {
			m.ssm.mixState(&e.x, &h, &e.state)
			e.cache.keepState(table, at+1, &e.state, begins)
		} else {
			e.attend(l, a, table, at, &h)
		}
		m.feedForward(&e.x, &m.layers[l])
	}
}

// attend adds to x what position at reads from all positions up to itself. h is x, normalised.
func (e *Engine) attend(l int, a *lora, table []kvpool.BlockID, at int, h *[width]float32) {
	m := e.model
	var q, read [width]float32
	cell := e.cache.cell(table, at)
	k, v := &e.cache.keys[l][cell], &e.cache.values[l][cell]
	m.project(l, a, h, projected{&q, k, v})
	for g := range kvHeads {
		m.rotate(k[g*headDim:(g+1)*headDim], at)
	}
	for head := range heads {
		own := q[head*headDim : (head+1)*headDim]
		m.rotate(own, at)
		from := groupOf(head)
		e.score(own, l, head, table[:at/e.cache.blockSize+1], at+1)
		e.read(read[head*headDim:(head+1)*headDim], l, from, table[:at/e.cache.blockSize+1])
	}
	for r := range e.x {
		e.x[r] += dot(m.layers[l].o[r][:], read[:])
	}
}

// groupOf returns where the numbers of a head's group of keys and values begin.
func groupOf(head int) int { return head / (heads / kvHeads) * headDim }

// score sets scores to how well the keys of the first n positions match q, less the head's slope for each position
// that lies between.
func (e *Engine) score(q []float32, l, head int, table []kvpool.BlockID, n int) {
	c, from, slope := e.cache, groupOf(head), slopes[head]
	e.scores = e.scores[:0]
	for _, id := range table {
		first, far := int(id)*c.blockSize, n-1-len(e.scores)
		for i, k := range c.keys[l][first : first+min(c.blockSize, far+1)] {
			e.scores = append(e.scores,
				float32(dot(q, k[from:from+headDim])*attentionScale)-float32(slope*float32(far-i)))
		}
	}
}

// read sets into to the mean of the values of the positions that have scores, weighted by the exponentials of these.
func (e *Engine) read(into []float32, l, from int, table []kvpool.BlockID) {
	c, scores := e.cache, e.scores
	top, sum := slices.Max(scores), float32(0)
	for _, id := range table {
		first, here := int(id)*c.blockSize, min(c.blockSize, len(scores))
		for i, v := range c.values[l][first : first+here] {
			weight := exp(scores[i] - top)
			sum += weight
			addScaled(into, weight, v[from:from+headDim])
		}
		scores = scores[here:]
	}
	for i := range into {
		into[i] /= sum
	}
}

const attentionScale = 0.35355338 // 1/√headDim

// slopes is what each head takes off a score for each position of distance. Keys are stored turned by their positions
// and a sum does not know its order, so without it a block in another's place would change nothing but the last bits.
var slopes = [heads]float32{0, 1. / 64, 1. / 16, 1. / 4}
