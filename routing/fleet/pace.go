package fleet

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Pace is how fast a replica was lately, as measured here. The zero Pace is unknown.
type Pace struct {
	Fixed    float64 // seconds of a first token that do not depend on the prompt
	PerToken float64 // seconds for each token that has to be computed before it
	ITL      float64 // seconds between tokens; 0 is unknown
}

// Known returns true if first tokens can be predicted.
func (p Pace) Known() bool { return p.Fixed > 0 || p.PerToken > 0 }

// TTFT predicts the time to a first token, in seconds, if so many tokens have to be computed before it. 0 is unknown.
func (p Pace) TTFT(tokens int) float64 { return p.Fixed + p.PerToken*float64(tokens) }

// paceMemory is what is left of a measurement after a further one.
const paceMemory = 1 - 1.0/32

// pace measures Pace: least squares over measurements that fade. Readers take no lock.
type pace struct {
	fixed, perToken, itl atomic.Uint64 // bits of float64

	mu             sync.Mutex
	firsts         regression // seconds over tokens; guarded by mu
	gaps, gapCount float64    // faded sum and weight of times between tokens; guarded by mu
}

func (p *pace) load() Pace {
	return Pace{read(&p.fixed), read(&p.perToken), read(&p.itl)}
}

// firstToken takes a first token that came after took, with tokens to compute before it.
func (p *pace) firstToken(tokens int, took time.Duration) {
	if took < 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.firsts.add(float64(tokens), took.Seconds())
	if !p.firsts.known() {
		return
	}
	fixed, slope := p.firsts.fit()
	p.fixed.Store(math.Float64bits(fixed))
	p.perToken.Store(math.Float64bits(slope))
}

// between takes the mean time between the tokens of one answer.
func (p *pace) between(gap time.Duration) {
	if gap < 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gaps, p.gapCount = p.gaps*paceMemory+gap.Seconds(), p.gapCount*paceMemory+1
	p.itl.Store(math.Float64bits(p.gaps / p.gapCount))
}

func read(bits *atomic.Uint64) float64 { return math.Float64frombits(bits.Load()) }
