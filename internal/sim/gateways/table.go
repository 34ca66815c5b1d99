package gateways

import (
	"fmt"
	"io"
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
	Extra    bool // also loss, a partition and independent gateways
	Seed     uint64
}

// Print plays all cells of a plan, and writes the figures of each as soon as they are there; below a
// head, if there is to be one.
func (p *Plan) Print(w io.Writer, head bool) error {
	if head {
		fmt.Fprintln(w,
			"| mix | engines | gateways | between them | capacity | good % | hit % | missed % | beyond % | KB/s |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
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
	base := Config{Gateways: 1, Engines: replay.Default()}
	e := &base.Engines
	e.Replicas, e.BlockSize, e.Blocks, e.Seed = engines, m.Trace.Block, m.Blocks, p.Seed
	e.Rate = m.Rate * float64(engines)
	rate, err := Alone(base, m.Trace)
	if err != nil {
		return err
	}
	e.Rate = rate
	for _, c := range p.cells(base) {
		share := 1.0
		var f Figures
		if c.Gateways == 1 {
			f, err = Run(c, m.Trace)
		} else {
			share, f, err = Capacity(c, m.Trace)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %d | %d | %s | %.2f | %.1f | %.1f | %.2f | %.2f | %.1f |\n", m.Name, engines, c.Gateways,
			c.between(), share, 100*f.Good, 100*f.Hit, 100*f.Missed, 100*f.Beyond,
			float64(f.Bytes)/1e3/f.Seconds/float64(c.Gateways))
	}
	return nil
}

// cells returns those of a group: one gateway, then each number of them.
func (p *Plan) cells(base Config) []Config {
	all := []Config{base}
	for _, n := range p.Gateways {
		if n == 1 {
			continue
		}
		base.Gateways = n
		for _, delay := range p.Delays {
			c := base
			c.Delay = delay
			all = append(all, c)
		}
		if p.Extra {
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

// What extra cells have.
const (
	lossy    = 20 * time.Millisecond
	someLoss = 0.01
	halfTime = 0.5
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
