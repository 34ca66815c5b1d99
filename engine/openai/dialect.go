package openai

import (
	"fmt"

	"octet/internal/http1/field"
)

// dialect is where one kind of engine answers what is not part of the OpenAI API. An empty path means that it does not.
type dialect struct {
	health        string // GET: 200 is healthy
	tokenize      string // POST
	template      string // POST: a chat to its prompt
	metrics       string // GET
	loadAdapter   string // POST
	unloadAdapter string // POST
}

// dialects are the kinds of engine that a Config may name.
var dialects = map[string]dialect{
	"vllm": {
		health: "/health", tokenize: "/tokenize", metrics: "/metrics",
		loadAdapter: "/v1/load_lora_adapter", unloadAdapter: "/v1/unload_lora_adapter",
	},
	"sglang": {
		health: "/health", tokenize: "/tokenize", metrics: "/metrics",
		loadAdapter: "/load_lora_adapter", unloadAdapter: "/unload_lora_adapter",
	},
	"llamacpp": {health: "/health", tokenize: "/tokenize", template: "/apply-template", metrics: "/metrics"},
	"openai":   {health: modelsPath},
	Auto:       {health: "/health", metrics: "/metrics"},
}

const modelsPath = "/v1/models"

// dialectOf is the dialect of the engine that cfg names, with the paths that cfg sets.
func dialectOf(cfg Config) (dialect, error) {
	d, ok := dialects[cfg.Engine]
	if !ok {
		return d, fmt.Errorf("%w: no engine %q", ErrConfig, cfg.Engine)
	}
	if path := cfg.HealthPath; path != "" {
		if path[0] != '/' || !field.IsVisible(path) {
			return d, fmt.Errorf("%w: no health path %q", ErrConfig, path)
		}
		d.health = path
	}
	return d, nil
}
