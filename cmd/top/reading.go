package top

import (
	"context"
	"fmt"
	"time"

	"octet/cmd/adminclient"
	"octet/gateway/api"
	"octet/slo"
)

// Reading is what a gateway has said of itself at one time.
type Reading struct {
	At       time.Time     // when all of it was there
	Took     time.Duration // to ask
	State    api.EnsembleState
	SLOs     map[string]slo.Report // by specialist
	Breakers adminclient.Breakers
	Requests []api.OpenRequest // open for the longest time
	Adapters bool              // those of replicas are in State
}

// requestsAsked is how many open requests are read.
const requestsAsked = 50

// Poll reads all, one request after another; the adapters of replicas, which make up most of it, only if they are asked
// for.
func Poll(ctx context.Context, c *adminclient.Client, adapters bool) (*Reading, error) {
	began, r, ask := time.Now(), &Reading{Adapters: adapters}, c.StateWithoutAdapters
	if adapters {
		ask = c.State
	}
	state, err := ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	r.State = *state
	if r.SLOs, err = c.SLOs(ctx); err != nil {
		return nil, fmt.Errorf("reading the SLOs: %w", err)
	}
	if r.Breakers, err = c.Breakers(ctx); err != nil {
		return nil, fmt.Errorf("reading the breakers: %w", err)
	}
	if r.Requests, err = c.Requests(ctx, requestsAsked); err != nil {
		return nil, fmt.Errorf("reading the open requests: %w", err)
	}
	r.At = time.Now()
	r.Took = r.At.Sub(began)
	return r, nil
}

// pause is how long after a poll the next one begins: it is to be no load for the gateway.
func pause(took time.Duration) time.Duration { return min(max(time.Second, 10*took), time.Minute) }
