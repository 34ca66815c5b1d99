package plugins

import (
	"slices"

	"octet/routing"
)

// Presets returns the names of the ready-made profiles, in the order of the documentation.
func Presets() []string {
	return []string{"default", "cache-aware", "round-robin-least-load", "least-load", "round-robin", "random"}
}

// Preset returns a ready-made profile, to be completed and built. False when there is none of that name.
//
// The set on by default is that of cache-aware: tokenize, block-hashes, prefix-depths; health, role, adapter, breaker,
// concurrency; three parts cache-affinity to one part least-load; max-score.
func Preset(name string) (routing.ProfileSpec, bool) {
	spec := routing.ProfileSpec{
		Name:   name,
		Filter: specs("health", "role", "adapter", "breaker", "concurrency"),
		Pick:   routing.PluginSpec{Name: "max-score"},
	}
	switch name {
	case "default", "cache-aware":
		spec.Prepare = specs("tokenize", "block-hashes", "prefix-depths")
		spec.Score = []routing.WeightedSpec{weighted("cache-affinity", 3), weighted("least-load", 1)}
	case "round-robin-least-load":
		spec.Score = []routing.WeightedSpec{weighted("round-robin", 1), weighted("least-load", 1)}
	case "least-load":
		spec.Score = []routing.WeightedSpec{weighted("least-load", 1)}
	case "round-robin", "random":
		spec.Pick.Name = name
	default:
		return routing.ProfileSpec{}, false
	}
	return spec, true
}

// Complete returns spec with what the caller of its profile gives and reads filled in: the fleet is given; the prompt's
// length, chain and how it was made are read where the profile prepares them.
//
// With admission the caller needs them for every request, to admit by blocks: the Preparers that are missing are put in, and
// they run for a single candidate too.
func Complete(spec routing.ProfileSpec, admission bool) routing.ProfileSpec {
	if admission {
		spec.AlwaysPrepare = true
		spec.Prepare = hashing(spec.Prepare)
	}
	spec.Given = append(slices.Clone(spec.Given), Fleet)
	if position(spec.Prepare, "block-hashes") >= 0 {
		spec.Wanted = append(slices.Clone(spec.Wanted), BlockHashes, PromptTokens, Chunks)
	}
	return spec
}

// hashing returns prepare with tokenize and, right behind it, block-hashes, where it does not have them.
func hashing(prepare []routing.PluginSpec) []routing.PluginSpec {
	if position(prepare, "block-hashes") >= 0 {
		return prepare
	}
	prepare = slices.Clone(prepare)
	if position(prepare, "tokenize") < 0 {
		prepare = slices.Insert(prepare, 0, routing.PluginSpec{Name: "tokenize"})
	}
	return slices.Insert(prepare, position(prepare, "tokenize")+1, routing.PluginSpec{Name: "block-hashes"})
}

// position returns where name stands in prepare, or -1.
func position(prepare []routing.PluginSpec, name string) int {
	return slices.IndexFunc(prepare, func(p routing.PluginSpec) bool { return p.Name == name })
}

func specs(names ...string) []routing.PluginSpec {
	all := make([]routing.PluginSpec, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

func weighted(name string, weight float64) routing.WeightedSpec {
	return routing.WeightedSpec{PluginSpec: routing.PluginSpec{Name: name}, Weight: weight}
}
