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
	// seconds by which a request in flight lengthens another's answer: by how much a gap between tokens is longer with
	// one more request in flight, times the tokens of a mean answer; 0 is unknown, or none
	Slowdown float64
	// seconds for which a request holds blocks, the mean: from when its prompt is begun to its answer's end, what it
	// waits for before left out; 0 is unknown
	Life float64
}

// Known returns true if first tokens can be predicted.
func (p Pace) Known() bool { return p.Fixed > 0 || p.PerToken > 0 }

// TTFT predicts the time to a first token, in seconds, if so many tokens have to be computed before it. 0 is unknown.
func (p Pace) TTFT(tokens int) float64 { return p.Fixed + p.PerToken*float64(tokens) }

// paceMemory is what is left of a measurement after a further one.
const paceMemory = 1 - 1.0/32

// pace measures Pace: least squares and means over measurements that fade. Readers take no lock.
type pace struct {
	fixed, perToken, itl, slowdown, life atomic.Uint64 // bits of float64

	mu      sync.Mutex
	firsts  regression // seconds over tokens; guarded by mu
	crowds  regression // seconds between tokens over requests in flight; guarded by mu
	share   float64    // seconds, the slope of crowds when the numbers in flight differed last; guarded by mu
	gaps    mean       // seconds between tokens; guarded by mu
	answers mean       // tokens; guarded by mu
	lives   mean       // seconds; guarded by mu
}

func (p *pace) load() Pace {
	return Pace{read(&p.fixed), read(&p.perToken), read(&p.itl), read(&p.slowdown), read(&p.life)}
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

// between takes the mean time between the tokens of one answer, and how many requests were in flight meanwhile, itself
// included.
func (p *pace) between(gap time.Duration, inFlight float64) {
	if gap < 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.itl.Store(math.Float64bits(p.gaps.add(gap.Seconds())))
	p.crowds.add(inFlight, gap.Seconds())
	if p.crowds.known() && p.crowds.spread() {
		_, p.share = p.crowds.fit()
	}
	p.slowdown.Store(math.Float64bits(p.share * p.answers.value()))
}

// answer takes a whole answer: its tokens, and for how long the request held blocks.
func (p *pace) answer(tokens int, held time.Duration) {
	if held < 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers.add(float64(tokens))
	p.life.Store(math.Float64bits(p.lives.add(held.Seconds())))
}

func read(bits *atomic.Uint64) float64 { return math.Float64frombits(bits.Load()) }
