package plugins_test

import (
	"testing"

	"octet/routing"
	"octet/routing/plugins"
)

// DYN-19: what a profile goes by is a property of its plugins, under whichever of their names it lists them.
func TestAProfileKnowsThatItPicksByLoadAlone(t *testing.T) {
	registry := plugins.Registry(plugins.Deps{})
	scored := func(pick string, scorers ...string) routing.ProfileSpec {
		spec := routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: pick}}
		for _, s := range scorers {
			spec.Score = append(spec.Score, routing.WeightedSpec{PluginSpec: routing.PluginSpec{Name: s}, Weight: 1})
		}
		return plugins.Complete(spec, false)
	}
	for _, tt := range []struct {
		spec routing.ProfileSpec
		want bool
	}{
		{scored("power-of-two", "queue-depth"), true},
		{scored("max-score", "least-load"), true},
		{scored("max-score-picker", "active-request-scorer"), true},
		{scored("max-score", "device-aware"), true},
		{scored("max-score-picker", "device-aware-weighted"), true},
		{scored("max-score-picker", "active-request-scorer"), true},
		{scored("max-score", "queue-depth"), false},
		{scored("max-score", "least-load", "queue-depth"), false},
		{scored("softmax", "least-load"), false},
	} {
		p, err := routing.Build(tt.spec, registry)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.ByLoad(); got != tt.want {
			t.Errorf("%+v: %v", tt.spec, got)
		}
	}
}
