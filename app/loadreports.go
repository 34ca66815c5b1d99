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
// ends. An engine is asked once for all of its ranks, and again only after it has answered: a slow one is asked less
// often, and delays no other.
func (s *replicas) reconcileGates(ctx context.Context, k *keepers, every, timeout time.Duration) {
	var asking sync.WaitGroup
	defer asking.Wait()
	busy := map[scraped]chan struct{}{}
	contain.Every(ctx, every, func(time.Time) {
		open := map[scraped]chan struct{}{}
		for of, ranks := range s.byEngine() {
			if answered := busy[of]; answered != nil && !closed(answered) {
				open[of] = answered
				continue
			}
			answered := make(chan struct{})
			open[of] = answered
			asking.Go(func() {
				defer close(answered)
				before := ownAt(ranks)
				page, err := scrape(ctx, ranks[0].client, timeout)
				for i, r := range ranks {
					s.told(k, r, &before[i], page, err)
				}
			})
		}
		busy = open
	})
}

// ownAt returns what this gateway has at each of replicas.
func ownAt(replicas []*replica) []gate.Own {
	all := make([]gate.Own, len(replicas))
	for i, r := range replicas {
		all[i] = r.served.Gate.Own()
	}
	return all
}

// told takes over what the metrics page of a replica's engine says of it; err says that there is none. before is what
// this gateway had there as the page was asked for.
func (s *replicas) told(k *keepers, r *replica, before *gate.Own, page []byte, err error) {
	var m openai.Metrics
	if err == nil {
		m, err = openai.ReadPage(page, r.key.rank)
	}
	served := r.served
	o := observed(m, err)
	o.Before = before
	served.Gate.Reconcile(o)
	served.Fleet.Reports(reported(m, err, max(before.Sequences, served.Gate.Own().Sequences)))
	k.report(served, m, err)
	if err == nil {
		s.fabric.Beliefs().Grain(served.Host, m.Grain(r.key.blockSize))
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

// scraped is an engine whose metrics are read: of a replica that is the whole engine its client, of ranks what they
// have in common.
type scraped struct {
	client      *openai.Client
	url, apiKey string
}

// byEngine returns the replicas in force, by what their metrics are read from.
func (s *replicas) byEngine() map[scraped][]*replica {
	present := s.present()
	all := make(map[scraped][]*replica, len(present))
	for _, r := range present {
		of := scraped{client: r.client}
		if _, ranked := r.key.rank.Number(); ranked {
			of = scraped{url: r.key.url, apiKey: r.key.apiKey}
		}
		all[of] = append(all[of], r)
	}
	return all
}

func scrape(ctx context.Context, c *openai.Client, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.Page(ctx)
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

// reported returns the same for the fleet, whose plugins score by it. ours is the number of sequences that the engine
// has from this gateway: of a request for several answers it counts each.
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
