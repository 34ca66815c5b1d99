package scheduler

import "time"

// rateMemory is how much of a measurement is left after each further one; about the last 32 count.
const rateMemory = 1 - 1.0/32

// rateSamples is how many observations make a rate known. Unknown rates never refuse anybody.
const rateSamples = 4

// line measures time = fixed + perToken × tokens: least squares over observations that fade exponentially.
// A mean rate would promise nonsense for a long prompt after short ones, whose time is nearly all fixed.
type line struct {
	n, x, y, xx, xy float64 // faded sums; x in tokens, y in nanoseconds
	seen            int
}

func (l *line) observe(tokens int, took time.Duration) {
	x, y := float64(tokens), float64(took)
	l.n = l.n*rateMemory + 1
	l.x = l.x*rateMemory + x
	l.y = l.y*rateMemory + y
	l.xx = l.xx*rateMemory + x*x
	l.xy = l.xy*rateMemory + x*y
	l.seen++
}

// at estimates the time for tokens; 0 is unknown. Where all observations had about one size there is no slope to know:
// then it is the mean, scaled down for fewer tokens and not up for more, so that it errs to the side of admitting.
func (l *line) at(tokens int) time.Duration {
	if l.seen < rateSamples {
		return 0
	}
	meanX, meanY := l.x/l.n, l.y/l.n
	spread := l.xx/l.n - meanX*meanX
	x := float64(tokens)
	if spread <= 0.01*meanX*meanX {
		return span(meanY * min(1, x/max(1, meanX)))
	}
	slope := max(0, (l.xy/l.n-meanX*meanY)/spread)
	return span(max(0, meanY+slope*(x-meanX)))
}

// mean is an exponentially fading mean.
type mean struct {
	sum, weight float64
	seen        int
}

func (m *mean) observe(v, weight float64) {
	m.sum = m.sum*rateMemory + v*weight
	m.weight = m.weight*rateMemory + weight
	m.seen++
}

// value returns the mean; 0 is unknown.
func (m *mean) value() float64 {
	if m.seen < rateSamples {
		return 0
	}
	return m.sum / m.weight
}

// rates is what a Gate has measured of its engine.
type rates struct {
	prefill line // admission to first token, over uncached tokens
	pace    mean // ns a token after the first
	length  mean // tokens generated in all
	drain   drain
}

// firstToken estimates the time from admission to the first token; 0 is unknown.
func (r *rates) firstToken(uncached int) time.Duration { return r.prefill.at(uncached) }

// rest estimates the time for the tokens after the first of n; n 0 is as many as requests had lately. 0 is unknown.
func (r *rates) rest(n int) time.Duration {
	count := float64(n)
	if n == 0 {
		count = r.length.value()
	}
	return span(r.pace.value() * max(0, count-1))
}

// span is ns as a Duration that can still be added to, whatever was asked for: 31 years at most.
func span(ns float64) time.Duration { return time.Duration(min(ns, 1e18)) }
