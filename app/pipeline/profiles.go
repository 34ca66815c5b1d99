package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"octet/config"
	"octet/routing"
	"octet/routing/approx"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
)

// completed returns a profile of the configuration, or a preset, with the plugins that it implies. Admission by blocks
// always needs the prompt's chain.
func completed(cfg *config.Config, name string) routing.ProfileSpec {
	spec := plugins.Complete(declared(cfg, name), true)
	spec.Headers = append([]string{}, cfg.Limits.ProfileHeaders...)
	return spec
}

// declared returns a profile of the configuration, or a preset, as it is written; zero if it is neither.
func declared(cfg *config.Config, name string) routing.ProfileSpec {
	if p, ok := cfg.Profiles[name]; ok {
		return Spec(name, p)
	}
	spec, _ := plugins.Preset(name)
	return spec
}

// Spec returns a profile of the configuration as routing takes it.
func Spec(name string, p config.Profile) routing.ProfileSpec {
	spec := routing.ProfileSpec{Name: name, Prepare: pluginSpecs(p.Prepare), Filter: pluginSpecs(p.Filter),
		Pick: pluginSpec(p.Pick)}
	for _, s := range p.Score {
		spec.Score = append(spec.Score, routing.WeightedSpec{PluginSpec: pluginSpec(s), Weight: s.Weight})
	}
	return spec
}

func pluginSpecs(refs []config.PluginRef) []routing.PluginSpec {
	specs := make([]routing.PluginSpec, len(refs))
	for i, r := range refs {
		specs[i] = pluginSpec(r)
	}
	return specs
}

func pluginSpec(r config.PluginRef) routing.PluginSpec {
	return routing.PluginSpec{Name: r.Name, Params: r.Params, Pos: r.Path}
}

// Faults builds every profile of the configuration in the file at path, and returns all their faults; nil if there are
// none.
func Faults(path string, cfg *config.Config) error {
	x, err := runs.New(index.Config{})
	if err != nil {
		return err
	}
	guesses, err := approx.New(approx.Config{})
	if err != nil {
		return err
	}
	registry := plugins.Registry(plugins.Deps{Index: x, Tiers: x, Guesses: guesses})
	all := &config.Faults{File: path}
	for _, name := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		_, err := routing.Build(completed(cfg, name), registry)
		var faults routing.Faults
		if errors.As(err, &faults) {
			for _, f := range faults {
				all.List = append(all.List, faultOf(cfg, f))
			}
		} else if err != nil {
			return err
		}
	}
	all.List = append(all.List, workflowFaults(cfg, registry, all.List)...)
	all.List = append(all.List, nameFaults(cfg)...)
	if len(all.List) == 0 {
		return nil
	}
	return all
}

// workflowFaults builds the pipeline of every specialist whose profiles are there and without faults, and returns what
// is wrong with their workflows.
func workflowFaults(cfg *config.Config, registry routing.Registry, known []config.Fault) (all []config.Fault) {
	for i := range cfg.Specialists {
		unusable := false
		for _, name := range cfg.ProfilesOf(i) {
			_, declared := cfg.Profiles[name]
			_, preset := plugins.Preset(name)
			faulty := slices.ContainsFunc(known, func(f config.Fault) bool { return f.Profile == name })
			unusable = unusable || faulty || !declared && !preset
		}
		if unusable {
			continue
		}
		if _, err := (&builder{cfg: cfg, sp: &cfg.Specialists[i], registry: registry}).build(); err != nil {
			all = append(all, config.Fault{Path: fmt.Sprintf("specialists[%d].workflow", i), Code: config.CodeConflict,
				Message: strings.ReplaceAll(err.Error(), "\n", "; ")})
		}
	}
	return all
}

// nameFaults returns where a specialist uses a profile that serves only requests which name a replica, though no caller
// may name one: every request would be refused.
func nameFaults(cfg *config.Config) (all []config.Fault) {
	mayName := func(t config.Tenant) bool { return t.MayDirect }
	if cfg.Admin.Token != "" || slices.ContainsFunc(cfg.Auth.Tenants, mayName) {
		return nil
	}
	for i := range cfg.Specialists {
		for path, name := range cfg.ProfileRefs(i) {
			if spec := declared(cfg, name); plugins.WantsName(&spec) {
				all = append(all, config.Fault{Path: path, Code: config.CodeConflict, Profile: name,
					Message: fmt.Sprintf("%s serves only requests that name a replica, and no caller may: no tenant "+
						"has may_direct, and there is no admin.token", name)})
			}
		}
	}
	return all
}

// faultOf returns a fault of a profile's composition as one of the file.
func faultOf(cfg *config.Config, f routing.Fault) config.Fault {
	out := config.Fault{Path: f.Pos, Code: string(f.Code), Message: f.Message, Profile: f.Profile, Plugin: f.Plugin,
		Slot: f.Slot}
	p := cfg.Profiles[f.Profile]
	for _, ref := range slices.Concat(p.Prepare, p.Filter, p.Score, []config.PluginRef{p.Pick}) {
		if ref.Path == f.Pos && ref.Line > 0 {
			out.Line = ref.Line
			out.Message += fmt.Sprintf(" (line %d)", ref.Line)
		}
	}
	return out
}
