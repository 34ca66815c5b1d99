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
	Traces []replay.Trace // one for each of a Plan's Seeds
	Blocks int            // of an engine's pool
	Rate   float64        // near what one gateway over one engine can serve
}

// Plan is what a table holds: means over its Seeds.
type Plan struct {
	Mixes    []Mix
	Engines  []int
	Gateways []int // one is measured in any case
	Delays   []time.Duration
	Far      time.Duration // the only delay between more than four gateways, which cost most to play
	// Extra is for which numbers of gateways loss, a partition and independent gateways are played too.
	Extra []int
	Seeds []uint64 // one or more
}

// Print plays all cells of a plan, and writes the figures of each as soon as they are there; below a
// head, if there is to be one.
func (p *Plan) Print(w io.Writer, head bool) error {
	if head {
		fmt.Fprintln(w, "| mix | engines | gateways | between them | capacity | at worst | good % | hit % "+
			"| missed % | at worst | beyond % | KB/s |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
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
	plays := make([][]Config, len(p.Seeds)) // the cells of each seed
	alone := make([]Figures, len(p.Seeds))
	for i := range p.Seeds {
		base := p.base(m, i, engines)
		rate, f, err := Alone(base, m.Traces[i])
		if err != nil {
			return err
		}
		base.Engines.Rate = rate
		plays[i], alone[i] = p.cells(base), f
	}
	for at := range plays[0] {
		var r row
		for i := range p.Seeds {
			share, f := 1.0, alone[i]
			if c := plays[i][at]; c.Gateways > 1 {
				var err error
				if share, f, err = Capacity(c, m.Traces[i]); err != nil {
					return err
				}
			}
			r.add(share, &f)
		}
		r.print(w, m.Name, engines, &plays[0][at])
	}
	return nil
}

// row adds the figures of a cell up over seeds.
type row struct {
	seeds                                   float64
	share, good, hit, missed, beyond, bytes float64 // sums
	leastShare, mostMissed                  float64
}

func (r *row) add(share float64, f *Figures) {
	if r.seeds == 0 {
		r.leastShare = share
	}
	r.seeds++
	r.share, r.leastShare = r.share+share, min(r.leastShare, share)
	r.missed, r.mostMissed = r.missed+f.Missed, max(r.mostMissed, f.Missed)
	r.good, r.hit, r.beyond = r.good+f.Good, r.hit+f.Hit, r.beyond+f.Beyond
	r.bytes += float64(f.Bytes) / f.Seconds
}

func (r *row) print(w io.Writer, mix string, engines int, c *Config) {
	percent := 100 / r.seeds
	fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %s | %.1f | %.1f | %.2f | %.2f | %.2f | %.1f |\n", mix, engines,
		c.Gateways, c.between(), capacity(r.share/r.seeds), capacity(r.leastShare), percent*r.good, percent*r.hit,
		percent*r.missed, 100*r.mostMissed, percent*r.beyond, r.bytes/1e3/r.seeds/float64(c.Gateways))
}

// capacity says a share that Capacity returned, or a mean of some.
func capacity(share float64) string {
	if share < less[len(less)-1] {
		return fmt.Sprintf("< %.2f", less[len(less)-1])
	}
	return fmt.Sprintf("%.2f", share)
}

// base is one gateway before so many engines at a load near what it can serve, for the i-th seed.
func (p *Plan) base(m *Mix, i, engines int) Config {
	c := Config{Gateways: 1, Engines: replay.Default()}
	e := &c.Engines
	e.Replicas, e.BlockSize, e.Blocks, e.Seed = engines, m.Traces[i].Block, m.Blocks, p.Seeds[i]
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
