package cmd

import (
	"context"
	"sync"
	"time"

	"octet/engine/openai"
	"octet/scheduler"
)

// calibrate has every Gate hear what its engine says of its load, once every interval, until ctx ends. An engine is asked
// only when it has answered: a slow one is asked less often, and nobody waits for it.
func (h *house) calibrate(ctx context.Context, every, timeout time.Duration) {
	var asking sync.WaitGroup
	defer asking.Wait()
	tick := time.NewTicker(every)
	defer tick.Stop()
	busy := map[*openai.Client]chan struct{}{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		open := map[*openai.Client]chan struct{}{}
		for client, gate := range h.gates() {
			if answered := busy[client]; answered != nil && !closed(answered) {
				open[client] = answered
				continue
			}
			answered := make(chan struct{})
			open[client] = answered
			asking.Go(func() {
				defer close(answered)
				gate.Reconcile(observe(ctx, client, timeout))
			})
		}
		busy = open
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// gates are the Gates of the present residents, by the clients of their engines.
func (h *house) gates() map[*openai.Client]*scheduler.Gate {
	h.mu.Lock()
	defer h.mu.Unlock()
	gates := make(map[*openai.Client]*scheduler.Gate, len(h.residents))
	for _, r := range h.residents {
		gates[r.client] = r.replica.Gate
	}
	return gates
}

// observe asks an engine; one that does not answer has said nothing.
func observe(ctx context.Context, c *openai.Client, timeout time.Duration) scheduler.Observed {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, err := c.Scrape(ctx)
	if err != nil {
		return scheduler.Observed{}
	}
	return scheduler.Observed{
		KVUsage: m.KVUsage, Running: m.Running, Waiting: m.Waiting, Preemptions: m.Preemptions,
		HasUsage: m.Has(openai.HasKVUsage), HasLoad: m.Has(openai.HasRunning | openai.HasWaiting), HasPreemptions: m.Has(openai.HasPreemptions),
	}
}
