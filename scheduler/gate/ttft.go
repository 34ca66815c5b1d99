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

// least is how much a cause is taken to vary at least, as the square of a part of its mean.
const least = 0.01

// at estimates the y of x and a as a time; 0 is unknown. Where a hardly varied, as before an engine whose queue is long
// and steady, the observations cannot tell what it costs; then it leans towards the pace at which all was computed, so
// that behind a longer queue than ever it takes longer. Where both causes came together it is a line over their sum.
func (p *ttftModel) at(x, a float64) time.Duration {
	if !p.known() {
		return 0
	}
	meanX, meanA, meanY := p.x/p.n, p.a/p.n, p.y/p.n
	if meanA == 0 {
		return p.duration(x)
	}
	xx, aa := p.xx/p.n-meanX*meanX, p.aa/p.n-meanA*meanA
	xa, xy, ay := p.xa/p.n-meanX*meanA, p.xy/p.n-meanX*meanY, p.ay/p.n-meanA*meanY
	sum, pace := meanX+meanA, meanY/(meanX+meanA)
	lean := max(0, least*meanA*meanA-aa)
	both := xx*(aa+lean) - xa*xa
	if xx <= least*meanX*meanX || both <= least*xx*(aa+lean) { // one size of prompt, or both causes came together
		lean = max(0, least*sum*sum-(xx+2*xa+aa))
		slope := max(0, (xy+ay+lean*pace)/(xx+2*xa+aa+lean))
		return scheduler.Nanos(max(1, meanY+slope*(x+a-sum)))
	}
	aa, ay = aa+lean, ay+lean*pace
	slope, lag := (xy*aa-ay*xa)/both, (ay*xx-xy*xa)/both
	if lag <= 0 {
		return p.duration(x)
	}
	return scheduler.Nanos(max(1, meanY+max(0, slope)*(x-meanX)+lag*(a-meanA)))
}

// fade halves the weight of all that was observed.
func (p *ttftModel) fade() {
	for _, sum := range []*float64{&p.n, &p.x, &p.y, &p.xx, &p.xy, &p.a, &p.aa, &p.xa, &p.ay} {
		*sum /= 2
	}
}
