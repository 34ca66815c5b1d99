package openai

import (
	"errors"
	"testing"

	"octet/engine"
)

func TestPathsAreThoseOfTheKindUnlessTheConfigurationSetsThem(t *testing.T) {
	for _, k := range engine.AllKinds() {
		if got, err := pathsOf(Config{Engine: k.Name, Kinds: engine.AllKinds()}); err != nil || got != k.Paths {
			t.Errorf("%s: %+v, %v", k.Name, got, err)
		}
	}
	got, err := pathsOf(Config{Engine: engine.Auto, HealthPath: "/up"})
	if err != nil || got != (engine.Paths{Health: "/up", Metrics: "/metrics"}) {
		t.Errorf("auto: %+v, %v", got, err)
	}
	for _, bad := range []Config{{Engine: "made-up"}, {Engine: "vllm", HealthPath: "up", Kinds: engine.AllKinds()}} {
		if _, err := pathsOf(bad); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
