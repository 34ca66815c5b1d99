package gateways

import (
	"fmt"
	"time"
)

// Figures are what became of a cell: of its requests behind the first two fifths, by which gateways come to know
// engines.
type Figures struct {
	Requests int
	Refused  int
	Good     float64 // share of the requests that had their first token within the goal
	Hit      float64 // share of the prompt tokens of admitted requests that their engines had cached
	Missed   float64 // share of the admitted requests whose first token came after its deadline
	Beyond   float64 // blocks that gateways gave out beyond the pools, over those in use
	Preempts int     // requests that engines had to put back for want of blocks
	Messages int     // of all gateways
	Bytes    int
	Seconds  float64 // from the first arrival to the end
	Fair     Fairness

	span time.Duration // of the arrivals
}

func (r *run) figures() Figures {
	out := r.out
	lives := r.lives[int(warm*float64(len(r.lives))):]
	out.Requests, out.Seconds = len(lives), r.now.Seconds()
	good, admitted, missed, cached, prompt := 0, 0, 0, 0, 0
	for i := range lives {
		l := &lives[i]
		if l.refused {
			out.Refused++
			continue
		}
		admitted++
		cached, prompt = cached+l.cached, prompt+l.Input
		if l.first-l.at <= r.config.goal(l.Input) {
			good++
		} else {
			missed++
		}
	}
	out.Fair = r.fairness(&lives[0])
	out.Good, out.Missed = ratio(good, out.Requests), ratio(missed, admitted)
	out.Hit = ratio(cached, prompt)
	inUse, beyond := 0, 0
	for _, e := range r.engines {
		inUse, beyond = inUse+e.inUse, beyond+e.beyond
		out.Preempts += int(e.core.Stats().Preemptions)
	}
	out.Beyond = ratio(beyond, inUse)
	return out
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// baseline checks that nothing is left when all is done.
func (r *run) baseline() error {
	if r.left != 0 {
		return fmt.Errorf("%d requests are not over, and nothing is to happen", r.left)
	}
	for _, e := range r.engines {
		if s := e.core.Stats(); s.Running+s.Waiting != 0 || s.Free != s.Total {
			return fmt.Errorf("all is done, and engine %d has %+v", e.host, s)
		}
	}
	for _, g := range r.gateways {
		for host := range g.doors {
			d := &g.doors[host]
			if own, held := d.member.Own(), d.model.Own(); own.Running+own.Waiting+own.Backlog+own.Tokens != 0 ||
				held.Sequences+held.Blocks+held.Waiting != 0 || len(d.waiting) != 0 {
				return fmt.Errorf("all is done, and %s has %+v and %+v at engine %d", g.name, own, held, host)
			}
		}
	}
	return nil
}

// checkModels proves the invariants of all Models.
func (r *run) checkModels() {
	for _, g := range r.gateways {
		for host := range g.doors {
			if err := g.doors[host].model.Check(r.now); err != nil {
				r.fail(fmt.Errorf("%s, engine %d: %w", g.name, host, err))
				return
			}
		}
	}
}
