package gateways

import "octet/internal/replay"

// nineInTen is the share of the requests that must have their first tokens within the goal.
const nineInTen = 0.9

// less are where a capacity is looked for that is below the load that it is compared with, as shares of it; beyond is
// where one is that is above it.
var less = []float64{0.9, 0.75, 0.5, 0.25}

const beyond = 1.05

// Capacity returns the rate up to which nine in ten requests, refused ones included, have their first tokens within the
// goal, as a share of c.Engines.Rate, and the Figures at that rate. It is looked for coarsely, and taken to be on the
// line between the two loads where it lies: beyond at most, 0 if it is below all that were tried.
func Capacity(c Config, trace replay.Trace) (share float64, at Figures, err error) {
	rate := c.Engines.Rate
	at, err = Run(c, trace)
	if err != nil {
		return 0, at, err
	}
	if at.Good >= nineInTen {
		c.Engines.Rate = rate * beyond
		f, err := Run(c, trace)
		if err != nil || f.Good >= nineInTen {
			return beyond, at, err
		}
		return between(1, at.Good, beyond, f.Good), at, nil
	}
	high, bad := 1.0, at.Good
	for _, load := range less {
		c.Engines.Rate = rate * load
		f, err := Run(c, trace)
		if err != nil {
			return 0, at, err
		}
		if f.Good >= nineInTen {
			return between(load, f.Good, high, bad), at, nil
		}
		high, bad = load, f.Good
	}
	return 0, at, nil
}

// between returns where a line from good at low to bad at high is nine in ten.
func between(low, good, high, bad float64) float64 {
	return low + (high-low)*(good-nineInTen)/(good-bad)
}

// step is by how much one load of Alone's is more than the one before.
const step = 1.12

// near is how far from nine in ten the share may be at what Alone returns.
const near = 0.004

// Alone returns the rate up to which one gateway has nine in ten first tokens within the goal: it goes up or down from
// c.Engines.Rate, and then looks on the line between the two loads where it lies. The Figures are those at that rate.
func Alone(c Config, trace replay.Trace) (rate float64, at Figures, err error) {
	c.Gateways, c.Apart = 1, false
	type point struct{ rate, good float64 }
	var low, high point // those with enough and too few
	rate = c.Engines.Rate
	for range 20 {
		c.Engines.Rate = rate
		if at, err = Run(c, trace); err != nil {
			return 0, at, err
		}
		if at.Good >= nineInTen {
			low = point{rate, at.Good}
		} else {
			high = point{rate, at.Good}
		}
		switch {
		case high.rate == 0:
			rate *= step
		case low.rate == 0:
			rate /= step
		case at.Good >= nineInTen-near && at.Good <= nineInTen+near, high.rate-low.rate < rate/100:
			return rate, at, nil
		default:
			rate = between(low.rate, low.good, high.rate, high.good)
		}
	}
	return rate, at, nil
}
