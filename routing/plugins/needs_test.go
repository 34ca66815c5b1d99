package plugins_test

import (
	"errors"
	"testing"

	"octet/routing"
	"octet/routing/plugins"
)

// MOD3-31: what a shipped plugin needs it declares: slots, and parts of the program. Without the preparer of a slot, or
// without the part, a profile with it is not built, and the fault names both.
func TestShippedPluginsAreNotBuiltWithoutWhatTheyNeed(t *testing.T) {
	w := newWorld(t, 0)
	whole, bare := plugins.Registry(w.deps), plugins.Registry(plugins.Deps{})
	one := func(name string) routing.WeightedSpec {
		return routing.WeightedSpec{PluginSpec: routing.PluginSpec{Name: name}, Weight: 1}
	}
	for name, c := range map[string]struct {
		spec     routing.ProfileSpec
		registry routing.Registry
		code     routing.Code
		plugin   string
		slot     string
	}{
		"a scorer's slot": {routing.ProfileSpec{Score: []routing.WeightedSpec{one("cache-affinity")}}, whole,
			routing.CodeMissingWriter, "cache-affinity", "depths"},
		"another scorer's": {routing.ProfileSpec{Score: []routing.WeightedSpec{one("session-affinity")}}, whole,
			routing.CodeMissingWriter, "session-affinity", "session_key"},
		"a preparer's slot": {routing.ProfileSpec{Prepare: []routing.PluginSpec{{Name: "prefix-depths"}},
			Score: []routing.WeightedSpec{one("cache-affinity")}}, whole,
			routing.CodeMissingWriter, "prefix-depths", "block_hashes"},
		"a picker's slot": {routing.ProfileSpec{Pick: routing.PluginSpec{Name: "consistent-hash"}}, whole,
			routing.CodeMissingWriter, "consistent-hash", "hash_key"},
		"an index": {routing.ProfileSpec{
			Prepare: []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"}, {Name: "prefix-depths"}},
			Score:   []routing.WeightedSpec{one("cache-affinity")}}, bare,
			routing.CodeMissingDependency, "prefix-depths", ""},
	} {
		c.spec.Name, c.spec.Given = "p", append(c.spec.Given, plugins.Fleet)
		if c.spec.Pick.Name == "" {
			c.spec.Pick.Name = "max-score"
		}
		_, err := routing.Build(c.spec, c.registry)
		var faults routing.Faults
		if !errors.As(err, &faults) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := false
		for _, f := range faults {
			found = found || f.Code == c.code && f.Plugin == c.plugin && f.Slot == c.slot
		}
		if !found {
			t.Errorf("%s: %v", name, err)
		}
	}
}
