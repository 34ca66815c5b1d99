package calibration

import "math"

// Reliability holds confidences against what became of the answers: of those given with 0.8, do eight in ten hold?
type Reliability struct {
	// verdicts (on answers), or agreement (with second opinions, of shadowed requests alone)
	Basis   string           `json:"basis"`
	Samples int              `json:"samples"`
	ECE     *float64         `json:"ece"` // expected calibration error; null without samples
	Bins    []ReliabilityBin `json:"bins"`
}

// ReliabilityBin is those with a confidence in [Low, High).
type ReliabilityBin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Samples    int     `json:"samples"`
	Confidence float64 `json:"confidence"` // mean
	Held       float64 `json:"held"`       // share
}

const reliabilityBins = 10

// reliability bins trials by confidence. The error is the mean distance of confidence and what held, weighted by
// samples (Guo et al. 2017). Empty bins are left out.
func reliability(trials []trial, basis string) Reliability {
	r := Reliability{Basis: basis, Samples: len(trials), Bins: []ReliabilityBin{}}
	var bins [reliabilityBins]ReliabilityBin
	for _, t := range trials {
		b := &bins[min(int(t.confidence*reliabilityBins), reliabilityBins-1)]
		b.Samples++
		b.Confidence += t.confidence
		if t.good {
			b.Held++
		}
	}
	ece := 0.0
	for i, b := range bins {
		if b.Samples == 0 {
			continue
		}
		b.Low, b.High = float64(i)/reliabilityBins, float64(i+1)/reliabilityBins
		b.Confidence /= float64(b.Samples)
		b.Held /= float64(b.Samples)
		ece += math.Abs(b.Confidence-b.Held) * float64(b.Samples) / float64(len(trials))
		r.Bins = append(r.Bins, b)
	}
	if len(trials) > 0 {
		r.ECE = &ece
	}
	return r
}

// wilson is the interval of a rate at 95 % (Wilson 1927); [0, 1] of nothing.
func wilson(wins, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	p, m := float64(wins)/float64(n), float64(n)
	mid := p + z*z/(2*m)
	off := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (mid-off)/(1+z*z/m)), min(1, (mid+off)/(1+z*z/m))
}
