package plugins

import (
	"slices"

	"octet/routing"
)

// Complete returns spec with what the caller of its profile gives and reads filled in: the fleet is given; the prompt's
// length, chain and how it was made are read where the profile prepares them.
//
// With admission the caller needs them for every request, to admit by blocks: the Preparers that are missing are put
// in, and they run for a single candidate too.
func Complete(spec routing.ProfileSpec, admission bool) routing.ProfileSpec {
	if admission {
		spec.AlwaysPrepare = true
		spec.Prepare = hashing(spec.Prepare)
	}
	spec.Given = append(slices.Clone(spec.Given), Fleet)
	if position(spec.Prepare, "block-hashes") >= 0 {
		spec.Wanted = append(slices.Clone(spec.Wanted), BlockHashes, PromptTokens, Chunks, Others)
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
