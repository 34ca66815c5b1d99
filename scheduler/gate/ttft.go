package gate

import (
	"time"

	"octet/scheduler"
)

// ttftModel is a line with a second cause: y = fixed + slope × x + lag × a. An engine that computes prompts one after
// the other keeps a prompt waiting for those before it; one that computes them side by side does not, and its lag is 0.
type ttftModel struct {
	linear
	a, aa, xa, ay float64 // faded sums
}

func (p *ttftModel) observe(x, a, y float64) {
	p.linear.observe(x, y)
	p.a = p.a*rateMemory + a
	p.aa = p.aa*rateMemory + a*a
	p.xa = p.xa*rateMemory + x*a
	p.ay = p.ay*rateMemory + a*y
}

// usual returns the mean of a.
func (p *ttftModel) usual() float64 {
	if p.n == 0 {
		return 0
	}
	return p.a / p.n
}

// at estimates the y of x and a as a time; 0 is unknown. Where the observations cannot tell what a costs it is the
// line's.
func (p *ttftModel) at(x, a float64) time.Duration {
	if !p.known() {
		return 0
	}
	meanX, meanA, meanY := p.x/p.n, p.a/p.n, p.y/p.n
	xx, aa := p.xx/p.n-meanX*meanX, p.aa/p.n-meanA*meanA
	xa, xy, ay := p.xa/p.n-meanX*meanA, p.xy/p.n-meanX*meanY, p.ay/p.n-meanA*meanY
	if aa <= 0.01*meanA*meanA || aa == 0 {
		return p.duration(x)
	}
	det := xx*aa - xa*xa
	if xx <= 0.01*meanX*meanX || det <= 0.01*xx*aa { // one size of prompt, or both causes came together
		return p.duration(x)
	}
	slope, lag := (xy*aa-ay*xa)/det, (ay*xx-xy*xa)/det
	if lag <= 0 {
		return p.duration(x)
	}
	return scheduler.Nanos(max(1, meanY+max(0, slope)*(x-meanX)+lag*(a-meanA)))
}
