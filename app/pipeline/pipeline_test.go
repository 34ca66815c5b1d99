package pipeline_test

import (
	"testing"
	"time"

	"octet/app/pipeline"
	"octet/config"
	"octet/gateway/handover"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
)

func built(t *testing.T, text string) pipeline.Pipeline {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(text), config.Options{Presets: plugins.Presets()})
	if err != nil {
		t.Fatal(err)
	}
	x, err := runs.New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := pipeline.Build(cfg, plugins.Registry(plugins.Deps{Index: x, Tiers: x}))
	if err != nil {
		t.Fatal(err)
	}
	return all[cfg.Specialists[0].Name]
}

// GAIE-02, DYN-19: each profile that a rule chooses has its own protocol: load alone picks the prefilling replica of
// one, whose part is taken before the decoding one is asked.
func TestEveryWayHasItsOwnProtocol(t *testing.T) {
	p := built(t, `
specialists:
- name: coder
  workflow: disaggregated
  profiles:
  - {when: {priority_min: 1}, use: cache-aware}
  - {when: {priority_min: 0}, use: least-load}
  - {use: cache-aware}
  replicas: [{url: http://h:1}]
`)
	if len(p.Protocols) != 2 || len(p.Profiles) != 4 {
		t.Fatalf("%d protocols, %d profiles", len(p.Protocols), len(p.Profiles))
	}
	for way, want := range []time.Duration{0, 250 * time.Millisecond} {
		if got := p.Protocols[way]().(*handover.Protocol).Accept; got != want {
			t.Errorf("way %d waits %v", way, got)
		}
	}
}
