package matrix

import (
	"context"
	"fmt"
	"sync"

	"octet/internal/replay"
)

// Played is a cell with what each policy did.
type Played struct {
	Cell
	Requests int
	Results  []replay.Result // one for each policy
	Bound    replay.Result   // the oracle's
}

// Game is what is to be played.
type Game struct {
	Setup
	Traces   []Trace
	Policies []replay.Contender
	Parallel int                   // replays at once
	Progress func(done, total int) // called after each replay, one call at a time; may be nil
}

// Play plays all cells. It holds Parallel replays at a time.
func (g *Game) Play(ctx context.Context, cells []Cell) ([]Played, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]Played, len(cells))
	means := make([]mean, len(g.Traces))
	for i := range g.Traces {
		means[i] = meanOf(&g.Traces[i].Trace)
	}
	for i := range cells {
		out[i] = Played{Cell: cells[i], Results: make([]replay.Result, len(g.Policies))}
	}
	tasks := make(chan [2]int)
	var running sync.WaitGroup
	var doneMu sync.Mutex
	done := 0 // guarded by doneMu
	for range max(1, g.Parallel) {
		running.Go(func() {
			for task := range tasks {
				p := &out[task[0]]
				if err := g.play(ctx, p, &means[p.Trace], task[1]); err != nil {
					cancel(err)
				}
				doneMu.Lock()
				if done++; g.Progress != nil {
					g.Progress(done, len(cells)*(len(g.Policies)+1))
				}
				doneMu.Unlock()
			}
		})
	}
	for i := range out {
		for by := -1; by < len(g.Policies) && ctx.Err() == nil; by++ {
			tasks <- [2]int{i, by}
		}
	}
	close(tasks)
	running.Wait()
	return out, context.Cause(ctx)
}

// play plays one policy's replay of a cell; -1 is the oracle.
func (g *Game) play(ctx context.Context, p *Played, m *mean, by int) error {
	t := &g.Traces[p.Trace]
	config, part, err := g.config(&p.Cell, &t.Trace, m)
	switch {
	case err != nil:
	case by < 0:
		p.Requests = len(part.Requests)
		p.Bound, err = replay.Run(ctx, config, part, replay.Contender{Name: "oracle", Oracle: true})
	default:
		p.Results[by], err = replay.Run(ctx, config, part, g.Policies[by])
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", t.Name, p.Cell.String(), err)
	}
	return nil
}
