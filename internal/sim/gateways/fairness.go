package gateways

import (
	"fmt"
	"io"
	"time"

	"octet/internal/replay"
	"octet/scheduler"
)

// Fairness is how two tenants of equal weights were served while both offered more than there was room for.
type Fairness struct {
	Share float64 // tenant 0's, of the tokens that engines computed for both
	Worst float64 // the largest distance of that share from a half in any window of a whole run
	Jain  float64 // Jain's index of both: 1 is even, 1/2 is all for one
}

// window is as long as shares are looked at.
const window = 10 * time.Second

// fairness adds up the requests that ended between the first one that counts and the last arrival.
func (r *run) fairness(first *life) (f Fairness) {
	if len(r.config.Tenants) != 2 {
		return f
	}
	from := first.at
	windows := make([][2]float64, max(1, (r.out.span-from)/window))
	var sum [2]float64
	for i := range r.lives {
		l := &r.lives[i]
		at := int((l.last - from) / window)
		if l.refused || l.last < from || at >= len(windows) {
			continue
		}
		tokens := float64(l.Input - l.cached + l.Output)
		sum[l.tenant] += tokens
		windows[at][l.tenant] += tokens
	}
	for _, w := range windows {
		f.Worst = max(f.Worst, share(w)-0.5, 0.5-share(w))
	}
	f.Share = share(sum)
	f.Jain = 1 / (2 * (f.Share*f.Share + (1-f.Share)*(1-f.Share)))
	return f
}

func share(w [2]float64) float64 {
	if w[0]+w[1] == 0 {
		return 0.5
	}
	return w[0] / (w[0] + w[1])
}

// overload is the load of a cell of PrintFairness, as a multiple of what one gateway can serve: three parts of four are
// one tenant's, so that either offers as much as all engines can do.
const overload = 4.0

// PrintFairness plays a mix whose requests are two tenants', of equal weights, of which one offers three times what the
// other does. They come in at different gateways where there are several. It takes the first seed.
func (p *Plan) PrintFairness(w io.Writer, m *Mix, engines int) error {
	fmt.Fprint(w, "\n| gateways | between them | share of the tenant that offers three times as much | in the worst "+
		"10 s | Jain |\n|---|---|---|---|---|\n")
	base := p.base(m, 0, engines)
	base.Patient, base.Tenants = true, []float64{3, 1}
	base.Engines.Rate *= overload
	for _, n := range p.Gateways {
		for _, delay := range []scheduler.Time{20 * time.Millisecond, time.Second} {
			c := base
			c.Gateways, c.Delay = n, delay
			if n > 1 && n%2 != 0 || n == 1 && delay > lossy {
				continue
			}
			if err := p.fair(w, c, m.Traces[0]); err != nil {
				return err
			}
		}
		if c := base; n > 1 && n%2 == 0 {
			c.Gateways, c.Apart = n, true
			if err := p.fair(w, c, m.Traces[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) fair(w io.Writer, c Config, trace replay.Trace) error {
	f, err := Run(c, trace)
	if err != nil {
		return fmt.Errorf("fairness of %d gateways: %w", c.Gateways, err)
	}
	fmt.Fprintf(w, "| %d | %s | %.2f | %.2f | %.2f |\n", c.Gateways, c.between(), f.Fair.Share, 0.5+f.Fair.Worst,
		f.Fair.Jain)
	return nil
}
