package slo

import "time"

// Config is one specialist's contract. A zero field takes the default named beside it.
type Config struct {
	Window      time.Duration // 5 m: what a percentile looks back over
	MinSamples  int           // 20: with fewer a value is absent
	Correctness CorrectnessConfig
	Now         func() time.Time // time.Now
	Told        func(Given)      // called with each verdict that counts, for other gateways; nil is none
}

// CorrectnessConfig is what a specialist owes in correctness.
type CorrectnessConfig struct {
	Floor      float64       // the least pass rate; 0 owes nothing
	Window     time.Duration // 24 h
	MinSamples int           // 50
	RecoverFor time.Duration // 10 m above the floor before a demoted specialist is trusted again; negative is at once
	Kinds      []string      // of verdicts, that have a rate of their own: compile; all others share OtherKind's
	ProbeShare float64       // 0.1: of the requests that were a demoted specialist's, those that are copied to it
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&c.Window, 5 * time.Minute}, {&c.Correctness.Window, 24 * time.Hour}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	switch {
	case c.Correctness.RecoverFor == 0:
		c.Correctness.RecoverFor = 10 * time.Minute
	case c.Correctness.RecoverFor < 0:
		c.Correctness.RecoverFor = 0
	}
	if c.Correctness.ProbeShare <= 0 {
		c.Correctness.ProbeShare = 0.1
	}
	if c.Correctness.Kinds == nil {
		c.Correctness.Kinds = []string{CompileKind}
	}
	if c.MinSamples <= 0 {
		c.MinSamples = 20
	}
	if c.Correctness.MinSamples <= 0 {
		c.Correctness.MinSamples = 50
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
