package slo

import "math"

// z is the quantile of a two-sided confidence of 95 %.
const z = 1.959963984540054

// wilson is the interval in which the true rate lies behind c, with 95 % confidence: score interval of Wilson (1927).
// An empty count may be any rate.
func (c count) wilson() (low, high float64) {
	if c.all == 0 {
		return 0, 1
	}
	n, p := float64(c.all), c.rate()
	middle, spread := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max((middle-spread)/(1+z*z/n), 0), min((middle+spread)/(1+z*z/n), 1)
}
