package gate

import (
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// rateMemory is how much of a measurement is left after each further one; about the last 32 count.
const rateMemory = 1 - 1.0/32

// rateSamples is how many observations make a rate known. Unknown rates never refuse a request.
const rateSamples = 4

// linear measures y = fixed + slope × x: least squares over observations that fade exponentially. A mean rate would
// promise nonsense for a long prompt after short ones, whose time is nearly all fixed.
type linear struct {
	n, x, y, xx, xy float64 // faded sums
	seen            int
}

func (l *linear) observe(x, y float64) {
	l.n = l.n*rateMemory + 1
	l.x = l.x*rateMemory + x
	l.y = l.y*rateMemory + y
	l.xx = l.xx*rateMemory + x*x
	l.xy = l.xy*rateMemory + x*y
	l.seen++
}

func (l *linear) known() bool { return l.seen >= rateSamples }

// slope is what one more x costs, never negative. It returns false if all observations had about one x, so that it
// cannot be known.
func (l *linear) slope() (float64, bool) {
	meanX := l.x / l.n
	spread := l.xx/l.n - meanX*meanX
	if spread <= 0.01*meanX*meanX {
		return 0, false
	}
	return max(0, (l.xy/l.n-meanX*l.y/l.n)/spread), true
}

// duration estimates the y of x as a time; 0 is unknown. Without a known slope it is the mean, scaled down for a
// smaller x and not up for a larger one, so that it errs to the side of admitting.
func (l *linear) duration(x float64) time.Duration {
	if !l.known() {
		return 0
	}
	meanX, meanY := l.x/l.n, l.y/l.n
	slope, ok := l.slope()
	if !ok {
		return scheduler.Nanos(meanY * min(1, x/max(1, meanX)))
	}
	return scheduler.Nanos(max(0, meanY+slope*(x-meanX)))
}

// level estimates the y of x where y does not vanish with x: without a slope it is the mean.
func (l *linear) level(x float64) float64 {
	if !l.known() {
		return 0
	}
	slope, _ := l.slope()
	return max(0, l.y/l.n+slope*(x-l.x/l.n))
}

// mean is an exponentially fading mean.
type mean struct {
	sum, weight float64
	seen        int
}

func (m *mean) observe(v float64) {
	m.sum = m.sum*rateMemory + v
	m.weight = m.weight*rateMemory + 1
	m.seen++
}

// value returns the mean; 0 is unknown.
func (m *mean) value() float64 {
	if m.seen < rateSamples {
		return 0
	}
	return m.sum / m.weight
}

// safety is how many mean errors of past estimates are added to an estimate that is a promise. Twice the mean error is
// the most that an evenly spread one has, and 1.6 standard deviations of a bell; the rest is for what rates cannot see.
const safety = 2.5

// rates is what a Gate has measured of its engine. Nothing of it is configured.
type rates struct {
	length  mean // tokens generated in all
	service mean // ns from admission to the end
	drain   queue.DrainRate

	prefills
	pace linear // ns a token after the first, over requests in the engine at the time

	paceError mean // part by which estimates were wrong, either way
}

// rest estimates the time for the tokens after the first of n while running requests are in the engine; n 0 is as many
// as requests had lately. 0 is unknown.
func (r *rates) rest(n, running int) time.Duration {
	return scheduler.Nanos(r.pace.level(float64(running)) * max(0, r.tokens(n)-1))
}

// tokens is n, or the length that answers had lately where n is not stated.
func (r *rates) tokens(n int) float64 {
	if n == 0 {
		return r.length.value()
	}
	return float64(n)
}

// safely returns an estimate that is a promise: it is longer by what past estimates were wrong.
func safely(estimate time.Duration, wrong *mean) time.Duration {
	return scheduler.Nanos(float64(estimate)*(1+safety*wrong.value()+rounding) + 1)
}

// rounding is what float arithmetic may be wrong by, amply.
const rounding = 1e-9

// judge notes how far an estimate was from what came; estimate 0 was none.
func judge(wrong *mean, estimate, came float64) {
	if estimate > 0 {
		wrong.observe(min(2, max(came-estimate, estimate-came)/estimate))
	}
}
