package gateways

import "octet/internal/replay"

// nineInTen is the share of the requests that must have their first tokens within the goal.
const nineInTen = 0.9

// loads are where a capacity is looked for, as shares of the load that it is compared with.
var loads = []float64{1, 0.97, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2}

// Capacity returns the rate up to which nine in ten requests, refused ones included, have their first tokens within the
// goal, as a share of c.Engines.Rate, at most 1.05, and the Figures at that rate. It is looked for coarsely, from that
// rate down, and taken to be on the line between the two loads where it lies; 0 means that it is below all of them.
func Capacity(c Config, trace replay.Trace) (share float64, at Figures, err error) {
	rate, above := c.Engines.Rate, 0.0
	for i, load := range loads {
		c.Engines.Rate = rate * load
		f, err := Run(c, trace)
		if err != nil {
			return 0, at, err
		}
		if i == 0 {
			at = f
		}
		switch {
		case f.Good < nineInTen:
			above = f.Good
			continue
		case i > 0:
			return between(load, f.Good, loads[i-1], above), at, nil
		}
		c.Engines.Rate = rate * most
		beyond, err := Run(c, trace)
		if err != nil || beyond.Good >= nineInTen {
			return most, at, err
		}
		return between(load, f.Good, most, beyond.Good), at, nil
	}
	return 0, at, nil
}

// most is the largest share that Capacity returns.
const most = 1.05

// between returns where a line from good at low to bad at high is nine in ten.
func between(low, good, high, bad float64) float64 {
	return low + (high-low)*(good-nineInTen)/(good-bad)
}

// step is by how much one load of Alone's is more than the one before.
const step = 1.12

// Alone returns the rate up to which one gateway has nine in ten first tokens within the goal: it goes up or down from
// c.Engines.Rate, and takes it to be on the line between the two loads where it lies.
func Alone(c Config, trace replay.Trace) (float64, error) {
	c.Gateways, c.Apart = 1, false
	first, err := Run(c, trace)
	if err != nil {
		return 0, err
	}
	factor := step
	if first.Good < nineInTen {
		factor = 1 / step
	}
	rate, good := c.Engines.Rate, first.Good
	for range 40 {
		c.Engines.Rate = rate * factor
		f, err := Run(c, trace)
		switch {
		case err != nil:
			return 0, err
		case (f.Good >= nineInTen) == (factor > 1):
			rate, good = c.Engines.Rate, f.Good
		case factor > 1:
			return between(rate, good, c.Engines.Rate, f.Good), nil
		default:
			return between(c.Engines.Rate, f.Good, rate, good), nil
		}
	}
	return 0, replay.ErrConfig
}
