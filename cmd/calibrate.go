package cmd

import (
	"context"
	"sync"
	"time"

	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// calibrate has every Gate hear what its engine says of its load, once every interval, until ctx ends. An engine is
// asked only when it has answered: a slow one is asked less often, and nobody waits for it.
func (h *house) calibrate(ctx context.Context, every, timeout time.Duration) {
	var asking sync.WaitGroup
	defer asking.Wait()
	busy := map[*openai.Client]chan struct{}{}
	periodically(ctx, every, func(time.Time) {
		open := map[*openai.Client]chan struct{}{}
		for client, r := range h.measured() {
			if answered := busy[client]; answered != nil && !closed(answered) {
				open[client] = answered
				continue
			}
			answered := make(chan struct{})
			open[client] = answered
			asking.Go(func() {
				defer close(answered)
				m, err := scrape(ctx, client, timeout)
				r.Gate.Reconcile(observed(m, err))
				r.Fleet.Reports(reported(m, err, r.Gate.Stats().Running))
			})
		}
		busy = open
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// measured are the present residents, by the clients of their engines.
func (h *house) measured() map[*openai.Client]*ensemble.Replica {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[*openai.Client]*ensemble.Replica, len(h.residents))
	for _, r := range h.residents {
		all[r.client] = r.replica
	}
	return all
}

func scrape(ctx context.Context, c *openai.Client, timeout time.Duration) (openai.Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.Scrape(ctx)
}

// observed is what an engine said, for its Gate; one that did not answer has said nothing.
func observed(m openai.Metrics, err error) gate.Observed {
	if err != nil {
		return gate.Observed{}
	}
	return gate.Observed{
		KVUsage: m.KVUsage, Running: m.Running, Waiting: m.Waiting, Preemptions: m.Preemptions,
		HasUsage: m.Has(openai.HasKVUsage), HasLoad: m.Has(openai.HasRunning | openai.HasWaiting),
		HasPreemptions: m.Has(openai.HasPreemptions),
	}
}

// reported is the same for the fleet, whose plugins score by it. ours is how many requests of ours the engine has.
func reported(m openai.Metrics, err error, ours int) *fleet.Reported {
	if err != nil {
		return new(fleet.Reported)
	}
	return &fleet.Reported{
		Running: m.Running, Waiting: m.Waiting, Others: max(0, m.Running-ours),
		HasLoad: m.Has(openai.HasRunning | openai.HasWaiting),
		KVUsage: m.KVUsage, HasUsage: m.Has(openai.HasKVUsage),
		HasAdapters: m.Has(openai.HasAdapters), MaxAdapters: m.MaxAdapters, RunningAdapters: m.RunningAdapters,
		WaitingAdapters: m.WaitingAdapters,
	}
}
