package openai

import (
	"fmt"

	"octet/engine"
	"octet/internal/http1/field"
)

// autoPaths are asked of an engine whose kind is still to be found.
var autoPaths = engine.Paths{Health: "/health", Metrics: "/metrics"}

// pathsOf returns the paths of the engine that cfg names, with those that cfg sets.
func pathsOf(cfg Config) (engine.Paths, error) {
	paths := autoPaths
	if cfg.Engine != engine.Auto {
		kind, ok := cfg.Kinds.Named(cfg.Engine)
		if !ok {
			return paths, fmt.Errorf("%w: no engine %q", ErrConfig, cfg.Engine)
		}
		paths = kind.Paths
	}
	if path := cfg.HealthPath; path != "" {
		if path[0] != '/' || !field.IsVisible(path) {
			return paths, fmt.Errorf("%w: no health path %q", ErrConfig, path)
		}
		paths.Health = path
	}
	return paths, nil
}
