package tiny

import (
	"cmp"
	"math"
	"slices"
)

// Policy is how a token is sampled. The zero Policy is greedy.
type Policy struct {
	Temperature float64 // 0 takes the likeliest token
	TopP        float64 // of the probability that is sampled from; 0 is all of it, as 1 is
	Seed        uint64
}

// chance is one token of the vocabulary and its weight, of which its probability is the share.
type chance struct {
	index  int
	weight float64
}

// sample returns the token at a position, which comes after x. What is drawn there follows from the seed and the
// position alone, so that a batch, a preemption, a draft or another replica changes no answer. chances is scratch.
func (m *Model) sample(x *[width]float32, p Policy, at int, chances *[]chance) uint32 {
	if p.Temperature <= 0 {
		return m.pick(x)
	}
	all, sum := m.chances((*chances)[:0], x, p.Temperature)
	*chances = all
	if p.TopP > 0 && p.TopP < 1 {
		all, sum = nucleus(all, p.TopP*sum)
	}
	left := float64(mix(mix(p.Seed)+uint64(at))>>11) / (1 << 53) * sum
	for _, c := range all {
		if left -= c.weight; left < 0 {
			return m.vocab[c.index]
		}
	}
	return m.vocab[all[len(all)-1].index]
}

// chances returns the whole vocabulary after x, and the sum of the weights.
func (m *Model) chances(all []chance, x *[width]float32, temperature float64) (_ []chance, sum float64) {
	var h [width]float32
	normalise(&h, x, &m.norm)
	top := math.Inf(-1)
	for i := range m.output {
		logit := float64(dot(m.output[i][:], h[:])) / temperature
		all, top = append(all, chance{i, logit}), max(top, logit)
	}
	for i := range all {
		all[i].weight = math.Exp(all[i].weight - top)
		sum += all[i].weight
	}
	return all, sum
}

// nucleus returns the fewest tokens, the likeliest first, whose weights make up so much, and their sum.
func nucleus(all []chance, enough float64) (_ []chance, sum float64) {
	slices.SortFunc(all, func(a, b chance) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.index, b.index))
	})
	for i, c := range all {
		if sum += c.weight; sum >= enough {
			return all[:i+1], sum
		}
	}
	return all, sum
}
