package tiny

import "slices"

// Answer returns what m says after prompt under an adapter, to its end or to maxNew tokens: computed alone, token after
// token over plain slices, without blocks, batches, drafts or anything shared. It is the oracle of an Engine: slow,
// obvious, and the same to the bit. The last token ends the answer when stopped is set.
func (m *Model) Answer(adapter string, prompt []uint32, maxNew int) (tokens []uint32, stopped bool) {
	return m.AnswerBy(Policy{}, adapter, prompt, maxNew)
}

// AnswerBy is Answer, sampled by a policy.
func (m *Model) AnswerBy(p Policy, adapter string, prompt []uint32, maxNew int) (tokens []uint32, stopped bool) {
	r := plain{m: m, adapter: m.adapter(adapter)}
	for _, t := range prompt {
		r.tell(t)
	}
	for len(tokens) < maxNew && !stopped {
		next := m.sample(&r.x, p, r.n, new([]chance))
		tokens = append(tokens, next)
		stopped = m.Ends(next)
		r.tell(next)
	}
	return tokens, stopped
}

// plain is one sequence in contiguous memory.
type plain struct {
	m            *Model
	adapter      *lora
	keys, values [layers][][kvWidth]float32 // by position
	state        state
	n            int // positions
	x            [width]float32
}

// tell computes t at the next position.
func (r *plain) tell(t uint32) {
	r.m.embed(&r.x, t)
	for l := range r.m.layers {
		w := &r.m.layers[l]
		var h [width]float32
		normalise(&h, &r.x, &w.attentionNorm)
		if r.m.hybrid && l == ssmLayer {
			r.m.ssm.mixState(&r.x, &h, &r.state)
		} else {
			read := r.attend(l, &h)
			for i := range r.x {
				r.x[i] += dot(w.o[i][:], read[:])
			}
		}
		r.m.feedForward(&r.x, w)
	}
	r.n++
}

// attend returns what all heads read at the next position. h is x, normalised.
func (r *plain) attend(l int, h *[width]float32) (read [width]float32) {
	var q [width]float32
	var k, v [kvWidth]float32
	r.m.project(l, r.adapter, h, projected{&q, &k, &v})
	for from := 0; from < kvWidth; from += headDim {
		r.m.rotate(k[from:from+headDim], r.n)
	}
	r.keys[l], r.values[l] = append(r.keys[l], k), append(r.values[l], v)
	for from := 0; from < width; from += headDim {
		r.m.rotate(q[from:from+headDim], r.n)
		group := from / (width / kvHeads) * headDim
		r.readHead(read[from:from+headDim], q[from:from+headDim], l, group, slopes[from/headDim])
	}
	return read
}

// readHead sets read to the softmax-weighted mean of the values of the group that begins at from.
func (r *plain) readHead(read, q []float32, l, from int, slope float32) {
	scores := make([]float32, len(r.keys[l]))
	for p, k := range r.keys[l] {
		scores[p] = float32(dot(q, k[from:from+headDim])*attentionScale) - float32(slope*float32(r.n-p))
	}
	top, sum := slices.Max(scores), float32(0)
	for p, v := range r.values[l] {
		weight := exp(scores[p] - top)
		sum += weight
		addScaled(read, weight, v[from:from+headDim])
	}
	for i := range read {
		read[i] /= sum
	}
}
