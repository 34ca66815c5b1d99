package calibration

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Recommendation is a threshold, and how sure it is.
type Recommendation struct {
	Threshold *float64 `json:"threshold"` // null where nothing can be recommended
	Low       *float64 `json:"low"`       // of its 95 % interval
	High      *float64 `json:"high"`
	// Censored says that disagreements are frequent up to the highest threshold that was in force: the right one may be
	// higher.
	Censored bool   `json:"censored"`
	Why      string `json:"why"`
}

// recommend looks for the confidence from which on fewer than the goal's share of second opinions differ, under a rate
// that can only fall with confidence. Its interval is a bootstrap's.
func (o *opinions) recommend(g Goal) Recommendation {
	if n := len(o.samples); n < g.MinSamples {
		return Recommendation{Why: fmt.Sprintf("%d comparisons, at least %d are needed", n, g.MinSamples)}
	}
	sorted := slices.Clone(o.samples)
	slices.SortFunc(sorted, func(a, b sample) int { // those that are alike are told apart by nothing
		return cmp.Or(cmp.Compare(a.confidence, b.confidence), cmp.Compare(a.hit(), b.hit()))
	})
	at := o.crossing(sorted, g)
	if tail := surest(sorted, g); at >= o.in.highest && tail.surelyBelow(g.Disagreement) {
		return Recommendation{Why: fmt.Sprintf("from %.3f on, fewer than %.0f %% of second opinions differ, of %d "+
			"comparisons: at least %d are needed there", tail.from, 100*g.Disagreement, tail.n, g.MinSamples)}
	}
	low, high := o.interval(sorted, g)
	r := Recommendation{Threshold: &at, Low: &low, High: &high, Censored: at >= o.in.highest}
	switch {
	case r.Censored && o.in.highest < 1:
		r.Why = fmt.Sprintf(
			"up to %.3f, the highest threshold that was in force, at least %.0f %% differ: try a higher one for a time",
			o.in.highest, 100*g.Disagreement)
	case r.Censored:
		r.Why = fmt.Sprintf("at least %.0f %% of second opinions differ, however sure the first one is",
			100*g.Disagreement)
	default:
		r.Why = fmt.Sprintf("from %.3f on, fewer than %.0f %% of second opinions differ", at, 100*g.Disagreement)
	}
	return r
}

// surest is all samples from the confidence on at which the fitted rate is below the goal; none if it never is.
func surest(samples []sample, g Goal) (tail block) {
	for _, b := range falling(samples) {
		switch {
		case tail.n > 0:
			tail.n, tail.hits = tail.n+b.n, tail.hits+b.hits
		case b.rate() < g.Disagreement:
			tail = b
		}
	}
	return tail
}

// surelyBelow reports whether the rate is below another one by more than chance.
func (b block) surelyBelow(rate float64) bool {
	_, high := wilson(b.hits, b.n)
	return high < rate
}

// interval returns where 95 % of the crossings of resamples are.
func (o *opinions) interval(sorted []sample, g Goal) (low, high float64) {
	random := rand.New(rand.NewPCG(g.Seed, uint64(len(sorted))))
	found := make([]float64, g.Resamples)
	times := make([]int, len(sorted))
	drawn := make([]sample, 0, len(sorted))
	for i := range found {
		clear(times)
		for range sorted {
			times[random.IntN(len(sorted))]++
		}
		drawn = drawn[:0] // sorted, as what it is drawn from
		for j, n := range times {
			for range n {
				drawn = append(drawn, sorted[j])
			}
		}
		found[i] = o.crossing(drawn, g)
	}
	slices.Sort(found)
	return found[len(found)*25/1000], found[min(len(found)*975/1000, len(found)-1)]
}

// crossing returns the confidence from which on the fitted rate of disagreement is below the goal; the highest
// threshold where that is not seen of enough samples. The fit is the best one that does not rise (pool adjacent
// violators). samples are sorted by confidence.
func (o *opinions) crossing(samples []sample, g Goal) float64 {
	left := len(samples)
	for _, b := range falling(samples) {
		if b.rate() < g.Disagreement && left >= g.MinSamples {
			return b.from
		}
		left -= b.n
	}
	return o.in.highest
}

// block is a run of samples with one rate.
type block struct {
	from    float64 // the least confidence in it
	n, hits int
}

func (b block) rate() float64 { return float64(b.hits) / float64(b.n) }

// falling fits a rate of disagreement that does not rise with confidence. The same confidence is the same block.
func falling(samples []sample) []block {
	var fit []block
	for i := 0; i < len(samples); {
		b := block{from: samples[i].confidence}
		for ; i < len(samples) && samples[i].confidence == b.from; i++ {
			if b.n++; samples[i].disagrees {
				b.hits++
			}
		}
		for len(fit) > 0 && fit[len(fit)-1].rate() <= b.rate() {
			last := fit[len(fit)-1]
			b = block{last.from, last.n + b.n, last.hits + b.hits}
			fit = fit[:len(fit)-1]
		}
		fit = append(fit, b)
	}
	return fit
}
