package gateways

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"octet/internal/replay"
)

// zipfBlock is the tokens of the skewed mix's blocks.
const zipfBlock = 64

// Zipf draws a skewed mix: each prompt is one of so many shared beginnings of 1 to 6 thousand tokens, the k-th most
// popular of which comes with a weight of 1/k, and up to a thousand tokens of its own. One request comes each
// 1/perSecond on average.
func Zipf(seed uint64, requests, beginnings int, perSecond float64) replay.Trace {
	dice := rand.New(rand.NewPCG(seed, 0x7a697066))
	upTo, sum := make([]float64, beginnings), 0.0
	lengths, first := make([]int, beginnings), make([]uint64, beginnings)
	next := uint64(0)
	for k := range upTo {
		sum += 1 / float64(k+1)
		upTo[k] = sum
		lengths[k], first[k] = (1000+dice.IntN(5000))/zipfBlock, next
		next += uint64(lengths[k])
	}
	t := replay.Trace{Block: zipfBlock, Requests: make([]replay.Request, requests)}
	at := 0.0
	for i := range t.Requests {
		u, k := dice.Float64()*sum, 0
		for k < beginnings-1 && upTo[k] <= u {
			k++
		}
		own := 64 + dice.IntN(960)
		t.Requests[i] = replay.Request{At: time.Duration(at * 1e9), Input: lengths[k]*zipfBlock + own,
			Output: min(1000, max(8, int(120*math.Exp(0.7*dice.NormFloat64())))),
			Blocks: []replay.Span{{First: first[k], Count: lengths[k]}}, Session: strconv.Itoa(i)}
		at += dice.ExpFloat64() / perSecond
	}
	return t
}
