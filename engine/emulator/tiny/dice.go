package tiny

import (
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
)

// dice draws weights: the same seed and purpose give the same ones for ever.
type dice struct{ rng *rand.Rand }

func newDice(seed uint64, purpose string) dice {
	h := fnv.New64a()
	_, _ = io.WriteString(h, purpose)
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// fill draws rows whose product with a vector of unit variance has a standard deviation of about gain.
func (d dice) fill(rows [][width]float32, gain float64) {
	for r := range rows {
		d.row(rows[r][:], gain)
	}
}

func (d dice) row(row []float32, gain float64) {
	for i := range row {
		row[i] = float32(d.rng.NormFloat64() * gain / math.Sqrt(float64(len(row))))
	}
}

// near1 draws the gains of a norm.
func (d dice) near1(gains []float32) {
	for i := range gains {
		gains[i] = float32(1 + 0.1*d.rng.NormFloat64())
	}
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
