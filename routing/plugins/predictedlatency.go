package plugins

import (
	"context"

	"octet/routing"
	"octet/routing/index"
)

// predictedLatency writes what the request would meet at each candidate: the time to its first token behind all that is
// routed there and not computed yet, and the time between tokens, both by the replica's own pace of late. A replica
// that has answered too little to have a pace is foretold nothing.
type predictedLatency struct{ named }

func newPredictedLatency(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return predictedLatency{named{"predicted-latency", reads(Fleet, PromptTokens, routing.Optional(Depths))}}
	}
}

// Writes implements routing.Preparer.
func (predictedLatency) Writes() []routing.AnySlot { return reads(Forecasts) }

// Prepare implements routing.Preparer. It never fails.
func (predictedLatency) Prepare(_ context.Context, c *routing.Context) error {
	forecasts := Forecasts.Spare(c)
	if forecasts == nil {
		forecasts = new([index.MaxHosts]Forecast)
	}
	v := c.View()
	replicas := Fleet.Get(v)
	for h := range v.Candidates().All() {
		r := replicas.Replica(h)
		pace := r.Pace()
		forecasts[h] = Forecast{ITL: pace.ITL, Known: pace.Known()}
		if pace.Known() {
			forecasts[h].TTFT = pace.TTFT(r.Backlog() + uncached(v, h))
		}
	}
	Forecasts.Put(c, forecasts)
	return nil
}
