package fleet

// regression measures y = fixed + slope × x: least squares over measurements that fade.
type regression struct {
	n, x, y, xx, xy float64 // faded sums
	seen            int
}

const (
	lineSamples = 4    // measurements that make a line known
	lineSpread  = 0.01 // variance of x, over its squared mean, from which a slope can be told
)

func (l *regression) add(x, y float64) {
	l.n, l.x, l.y = l.n*paceMemory+1, l.x*paceMemory+x, l.y*paceMemory+y
	l.xx, l.xy = l.xx*paceMemory+x*x, l.xy*paceMemory+x*y
	l.seen++
}

func (l *regression) known() bool { return l.seen >= lineSamples }

// spread returns true if the xs differ enough to tell a slope from them.
func (l *regression) spread() bool {
	mx := l.x / l.n
	return l.xx/l.n-mx*mx > lineSpread*mx*mx
}

// fit returns the best line with neither part below zero. If all x were about the same, all of y is put down to them: a
// larger x is never predicted to be as quick as the smaller ones were.
func (l *regression) fit() (fixed, slope float64) {
	mx, my := l.x/l.n, l.y/l.n
	if mx <= 0 {
		return my, 0
	}
	if !l.spread() {
		return 0, my / mx
	}
	slope = max(0, (l.xy/l.n-mx*my)/(l.xx/l.n-mx*mx))
	if fixed = my - slope*mx; fixed < 0 {
		return 0, my / mx
	}
	return fixed, slope
}

// mean is one that fades: the last thirty or so measurements count. The zero mean is 0.
type mean struct{ sum, n float64 }

// add takes a measurement, and returns the mean with it.
func (m *mean) add(x float64) float64 {
	m.sum, m.n = m.sum*paceMemory+x, m.n*paceMemory+1
	return m.value()
}

func (m *mean) value() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / m.n
}
