package gateways

import (
	"fmt"
	"io"
	"slices"
	"time"

	"octet/internal/replay"
)

// Mix is a load with a name.
type Mix struct {
	Name   string
	Trace  replay.Trace
	Blocks int     // of an engine's pool
	Rate   float64 // near what one gateway over one engine can serve
}

// Plan is what a table holds.
type Plan struct {
	Mixes    []Mix
	Engines  []int
	Gateways []int // one is measured in any case
	Delays   []time.Duration
	Far      time.Duration // the only delay between more than four gateways, which cost most to play
	// Extra is for which numbers of gateways loss, a partition and independent gateways are played too.
	Extra []int
	Seed  uint64
}

// Print plays all cells of a plan, and writes the figures of each as soon as they are there; below a
// head, if there is to be one.
func (p *Plan) Print(w io.Writer, head bool) error {
	if head {
		fmt.Fprintln(w, "| mix | engines | gateways | between them | capacity | good % | hit % | missed % | "+
			"beyond % | KB/s |\n|---|---|---|---|---|---|---|---|---|---|")
	}
	for i := range p.Mixes {
		for _, engines := range p.Engines {
			if err := p.group(w, &p.Mixes[i], engines); err != nil {
				return fmt.Errorf("%s over %d engines: %w", p.Mixes[i].Name, engines, err)
			}
		}
	}
	return nil
}

// group plays the cells of a mix over so many engines.
func (p *Plan) group(w io.Writer, m *Mix, engines int) error {
	base := p.base(m, engines)
	rate, f, err := Alone(base, m.Trace)
	if err != nil {
		return err
	}
	base.Engines.Rate = rate
	share := 1.0
	for _, c := range p.cells(base) {
		if c.Gateways > 1 {
			share, f, err = Capacity(c, m.Trace)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %.1f | %.1f | %.2f | %.2f | %.1f |\n", m.Name, engines, c.Gateways,
			c.between(), capacity(share), 100*f.Good, 100*f.Hit, 100*f.Missed, 100*f.Beyond,
			float64(f.Bytes)/1e3/f.Seconds/float64(c.Gateways))
	}
	return nil
}

// capacity says a share that Capacity returned.
func capacity(share float64) string {
	if share == 0 {
		return fmt.Sprintf("< %.2f", less[len(less)-1])
	}
	return fmt.Sprintf("%.2f", share)
}

// base is one gateway before so many engines at a load near what it can serve.
func (p *Plan) base(m *Mix, engines int) Config {
	c := Config{Gateways: 1, Engines: replay.Default()}
	e := &c.Engines
	e.Replicas, e.BlockSize, e.Blocks, e.Seed = engines, m.Trace.Block, m.Blocks, p.Seed
	e.Rate = m.Rate * float64(engines)
	return c
}

// cells returns those of a group: one gateway, then each number of them.
func (p *Plan) cells(base Config) []Config {
	all := []Config{base}
	for _, n := range p.Gateways {
		if n == 1 {
			continue
		}
		base.Gateways = n
		delays := p.Delays
		if n > few {
			delays = []time.Duration{p.Far}
		}
		for _, delay := range delays {
			c := base
			c.Delay = delay
			all = append(all, c)
		}
		if slices.Contains(p.Extra, n) {
			c := base
			c.Delay, c.Loss = lossy, someLoss
			cut := base
			cut.Delay, cut.Partition = lossy, halfTime
			apart := base
			apart.Apart = true
			all = append(all, c, cut, apart)
		}
	}
	return all
}

// Fixed parts of a plan.
const (
	lossy    = 20 * time.Millisecond
	someLoss = 0.01
	halfTime = 0.5
	few      = 4 // gateways that are played with all delays
)

// between says what is between the gateways of a cell.
func (c *Config) between() string {
	switch {
	case c.Gateways == 1:
		return ""
	case c.Apart:
		return "nothing: independent"
	case c.Loss > 0:
		return fmt.Sprintf("%v, %g %% lost", c.Delay, 100*c.Loss)
	case c.Partition > 0:
		return fmt.Sprintf("%v, cut for %g %% of the time", c.Delay, 100*c.Partition)
	}
	return c.Delay.String()
}
