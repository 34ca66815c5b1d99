package plugins

import (
	"slices"

	"octet/routing"
)

// presets are the ready-made profiles, in the order of the documentation. The same as YAML stands in
// examples/profiles.yaml.
var presets = []routing.ProfileSpec{
	{ // least cost in seconds of work: what waits there, and what this request would have to compute there
		Name:    "default",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths", "tier-depths"),
		Score:   scores(weighted("least-work", 1)),
	},
	{ // reuse against load, by weight: more of the first for shorter first tokens, more of the second for an even load
		Name:    "cache-aware",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths", "tier-depths"),
		Score:   scores(weighted("cache-affinity", 3), weighted("least-load", 1)),
	},
	{ // the same, and a session stays where it was as long as that is not much worse
		Name:    "cache-aware-sticky",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths", "tier-depths", "session-key"),
		Score:   scores(weighted("cache-affinity", 3), weighted("session-affinity", 1), weighted("least-load", 1)),
	},
	{ // turns, leaning towards emptier queues
		Name:  "round-robin-least-load",
		Score: scores(weighted("round-robin", 1), weighted("least-load", 1)),
	},
	{ // a session's requests go to one replica, by a hash that all gateways share, within a bound on its load
		Name:    "consistent-hash",
		Prepare: specs("session-key", "consistent-hash-key"),
		Score:   scores(weighted("least-load", 1)),
		Pick:    routing.PluginSpec{Name: "consistent-hash"},
	},
	{ // Dynamo's KV router: lowest cost in blocks
		Name:    "dynamo-kv",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths", "tier-depths", "in-flight-load"),
		Score:   scores(weighted("dynamo-cost", 1)),
		Pick:    routing.PluginSpec{Name: "softmax"},
	},
	{ // Mooncake's conductor: least time to the first token, by queue and cache
		Name:    "conductor",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths"),
		Score:   scores(weighted("conductor", 1)),
	},
	{ // Preble's E2: where most of the prompt is cached, else where the load of the last minutes is least
		Name:    "preble-e2",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths"),
		Score:   scores(weighted("preble-e2", 1)),
	},
	{ // LMetric: least product of prompt tokens to compute and requests in flight
		Name:    "lmetric",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths"),
		Score:   scores(weighted("lmetric", 1)),
	},
	{ // the endpoint picker's defaults: queue and KV utilization 2, prefix 3
		Name:    "epp-default",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths", "tier-depths"),
		Score:   scores(weighted("queue-depth", 2), weighted("kv-utilization", 2), weighted("cache-affinity", 3)),
	},
	{ // one leg of prefill and decode, the role being the workflow's: near each other, cache and tokens in flight
		Name:    "disaggregated",
		Prepare: specs("tokenize", "block-hashes", "prefix-depths", "tier-depths", "in-flight-load", "locality"),
		Score: scores(weighted("cache-affinity", 2), weighted("token-load", 1), weighted("queue-depth", 1),
			weighted("node-locality", 1),
			weighted("kv-utilization", 1)),
	},
	{Name: "least-load", Score: scores(weighted("least-load", 1))},
	{Name: "device-aware", Score: scores(weighted("device-aware", 1))},
	{Name: "power-of-two", Pick: routing.PluginSpec{Name: "power-of-two"}},
	{Name: "round-robin", Pick: routing.PluginSpec{Name: "round-robin"}},
	{Name: "random", Pick: routing.PluginSpec{Name: "random"}},
	{Name: "direct", Pick: routing.PluginSpec{Name: "direct"}},
}

// Presets returns the names of the ready-made profiles, in the order of the documentation.
func Presets() []string {
	names := make([]string, len(presets))
	for i := range presets {
		names[i] = presets[i].Name
	}
	return names
}

// Preset returns a ready-made profile, to be completed and built. False if no preset has that name. All have the
// same filters, and pick by max-score where they name no picker.
func Preset(name string) (routing.ProfileSpec, bool) {
	at := slices.IndexFunc(presets, func(p routing.ProfileSpec) bool { return p.Name == name })
	if at < 0 {
		return routing.ProfileSpec{}, false
	}
	spec := presets[at]
	spec.Prepare, spec.Score = slices.Clone(spec.Prepare), slices.Clone(spec.Score)
	spec.Filter = specs("health", "role", "breaker", "adapter", "concurrency")
	if spec.Pick.Name == "" {
		spec.Pick.Name = "max-score"
	}
	return spec, true
}

func specs(names ...string) []routing.PluginSpec {
	all := make([]routing.PluginSpec, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

func scores(all ...routing.WeightedSpec) []routing.WeightedSpec { return all }

func weighted(name string, weight float64) routing.WeightedSpec {
	return routing.WeightedSpec{PluginSpec: routing.PluginSpec{Name: name}, Weight: weight}
}
