package app

import (
	"context"
	"sync"
	"time"

	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/internal/contain"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// reconcileGates has every Gate compare its model with the load that its engine tells, once every interval, until ctx
// ends. An engine is asked again only after it has answered: a slow one is asked less often, and delays no other.
func (s *replicas) reconcileGates(ctx context.Context, k *keepers, every, timeout time.Duration) {
	var asking sync.WaitGroup
	defer asking.Wait()
	busy := map[*openai.Client]chan struct{}{}
	contain.Every(ctx, every, func(time.Time) {
		open := map[*openai.Client]chan struct{}{}
		for client, r := range s.byClient() {
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
				k.report(r, m, err)
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

// byClient returns the replicas in force, by the clients of their engines.
func (s *replicas) byClient() map[*openai.Client]*ensemble.Replica {
	present := s.present()
	all := make(map[*openai.Client]*ensemble.Replica, len(present))
	for _, r := range present {
		all[r.client] = r.served
	}
	return all
}

func scrape(ctx context.Context, c *openai.Client, timeout time.Duration) (openai.Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.Scrape(ctx)
}

// observed returns what an engine told, for its Gate: nothing if it did not answer.
func observed(m openai.Metrics, err error) gate.Observed {
	if err != nil {
		return gate.Observed{}
	}
	return gate.Observed{
		KVUsage: m.KVUsage, Running: m.Running, Waiting: m.Waiting, Preemptions: m.Preemptions,
		HasUsage: m.Has(openai.HasKVUsage), HasLoad: m.Has(openai.HasRunning | openai.HasWaiting),
		HasPreemptions: m.Has(openai.HasPreemptions), MaxAdapters: m.MaxAdapters,
	}
}

// reported returns the same for the fleet, whose plugins score by it. ours is the number of requests that the engine
// has from this gateway.
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

// report tells the keeper of a replica's adapters what the engine says of them.
func (k *keepers) report(r *ensemble.Replica, m openai.Metrics, err error) {
	keeper := k.of(r.Fleet.Spec().Specialist)
	if err == nil && keeper != nil && m.Has(openai.HasAdapters) {
		keeper.Runs(uint16(r.Host), m.RunningAdapters, m.MaxAdapters)
	}
}
