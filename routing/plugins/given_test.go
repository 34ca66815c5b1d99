package plugins_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
	"octet/routing/plugins"
)

// given is a request whose slots are filled by the test instead of by preparers.
type given struct {
	facts     routing.Facts
	depths    []uint16 // by host; blocks is the length of the chain
	blocks    int
	tokens    int                // of the prompt
	forecasts []plugins.Forecast // by host
	distances []uint8            // by host, of levels
	levels    int
	near      *index.HostID
}

// put fills the slots of g and returns which.
func (g given) put(c *routing.Context) (slots []routing.AnySlot) {
	if g.depths != nil {
		depths := new([index.MaxHosts]uint16)
		copy(depths[:], g.depths)
		plugins.Depths.Put(c, depths)
		plugins.BlockHashes.Put(c, make([]kvpool.BlockHash, g.blocks))
		slots = append(slots, plugins.Depths, plugins.BlockHashes)
	}
	if g.tokens > 0 {
		plugins.PromptTokens.Put(c, g.tokens)
		slots = append(slots, plugins.PromptTokens)
	}
	if g.forecasts != nil {
		forecasts := new([index.MaxHosts]plugins.Forecast)
		copy(forecasts[:], g.forecasts)
		plugins.Forecasts.Put(c, forecasts)
		slots = append(slots, plugins.Forecasts)
	}
	if g.levels > 0 {
		places := &plugins.Places{Levels: g.levels}
		copy(places.Distance[:], g.distances)
		plugins.Distances.Put(c, places)
		slots = append(slots, plugins.Distances)
	}
	if g.near != nil {
		plugins.Near.Put(c, *g.near)
		slots = append(slots, plugins.Near)
	}
	return slots
}

// decide builds spec for the slots of g and runs it once, traced.
func (w *world) decide(spec routing.ProfileSpec, g given) (routing.Decision, *routing.Context, error) {
	w.t.Helper()
	c := w.request(g.facts)
	spec.Given = append(g.put(c), plugins.Fleet)
	spec.Wanted = []routing.AnySlot{routing.Optional(plugins.PromptTokens), routing.Optional(plugins.Chunks),
		routing.Optional(plugins.Others)}
	if spec.Name = "p"; spec.Pick.Name == "" {
		spec.Pick.Name = "max-score"
	}
	p, err := routing.Build(spec, plugins.Registry(w.deps))
	if err != nil {
		w.t.Fatal(err)
	}
	c.EnableTrace(func() time.Duration { return 0 })
	d, err := p.Select(context.Background(), c)
	for _, s := range p.Stats() {
		if s.OutOfRange > 0 {
			w.t.Errorf("%s gave %d scores out of range", s.Plugin, s.OutOfRange)
		}
	}
	return d, c, err
}

// rated returns what one scorer says of each replica.
func (w *world) rated(scorer string, params map[string]any, g given, prepare ...routing.PluginSpec) (raw []float64) {
	w.t.Helper()
	_, c, err := w.decide(routing.ProfileSpec{Prepare: prepare,
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: scorer, Params: params}, Weight: 1}}}, g)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, cand := range c.Trace().Candidates {
		raw = append(raw, cand.Scores[0].Raw)
	}
	return raw
}

// left returns the replicas that one filter leaves of all.
func (w *world) left(filter string, params map[string]any, g given, prepare ...routing.PluginSpec) index.HostBitmap {
	w.t.Helper()
	d, _, err := w.decide(routing.ProfileSpec{Prepare: prepare,
		Filter: []routing.PluginSpec{{Name: filter, Params: params}}}, g)
	var none *routing.NoCandidateError
	if errors.As(err, &none) {
		return index.HostBitmap{}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Eligible
}

// faultsOf returns what is wrong with one plugin's parameters.
func faultsOf(t *testing.T, name string, params map[string]any) (codes []routing.Code) {
	t.Helper()
	w := newWorld(t, 1)
	w.deps.Guesses, w.deps.Tiers = guesses(t), noTiers{}
	spec := routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"}, Given: []routing.AnySlot{
		plugins.Fleet, plugins.Depths, plugins.BlockHashes, plugins.PromptTokens, plugins.Forecasts, plugins.Distances,
		plugins.Session, plugins.Tenant, plugins.HashKey}}
	plugin := plugins.Registry(w.deps)[name](&routing.Params{})
	ref := routing.PluginSpec{Name: name, Params: params}
	switch plugin.(type) {
	case routing.Picker:
		spec.Pick = ref
	case routing.Filter:
		spec.Filter = []routing.PluginSpec{ref}
	case routing.Scorer:
		spec.Score = []routing.WeightedSpec{{PluginSpec: ref, Weight: 1}}
	case routing.Preparer:
		spec.Prepare = []routing.PluginSpec{ref}
	}
	_, err := routing.Build(spec, plugins.Registry(w.deps))
	var faults routing.Faults
	errors.As(err, &faults)
	for _, f := range faults {
		if f.Code == routing.CodeInvalidParameter || f.Code == routing.CodeUnknownParameter {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// noTiers knows nothing.
type noTiers struct{}

func (noTiers) InTiers(index.HostID, []kvpool.BlockHash, int, int) (none [index.Tiers]int) {
	return none
}

func (noTiers) BelowGPU() (none index.HostBitmap) { return none }
