package app_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/app"
	"octet/app/pipeline"
	"octet/routing"
	"octet/routing/plugins"
)

// GAIE-11: the presets and the file that shows them are the same, and the file is one that serves.
func TestTheExampleProfilesAreThePresets(t *testing.T) {
	const path = "../examples/profiles.yaml"
	cfg, err := app.Source{Path: path}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Profiles) != len(plugins.Presets()) {
		t.Errorf("%d profiles, %d presets", len(cfg.Profiles), len(plugins.Presets()))
	}
	for _, name := range plugins.Presets() {
		want, _ := plugins.Preset(name)
		shown, ok := cfg.Profiles["my-"+name]
		if !ok {
			t.Errorf("%s is not shown", name)
			continue
		}
		if diff := cmp.Diff(flat(want), flat(pipeline.Spec(name, shown))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// flat is what a profile is made of, without where it stands in a file.
func flat(spec routing.ProfileSpec) (parts []any) {
	add := func(stage string, s routing.PluginSpec, weight float64) {
		parts = append(parts, []any{stage, s.Name, s.Params, weight})
	}
	for _, s := range spec.Prepare {
		add("prepare", s, 0)
	}
	for _, s := range spec.Filter {
		add("filter", s, 0)
	}
	for _, s := range spec.Score {
		add("score", s.PluginSpec, s.Weight)
	}
	add("pick", spec.Pick, 0)
	return parts
}
