package cmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"octet/adapters"
	"octet/config"
	"octet/gateway/ensemble"
	"octet/routing"
	"octet/routing/approx"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
)

// buildPatterns builds how every specialist's requests are executed, by specialist, with the tokenizers of their
// generation.
func (h *house) buildPatterns(cfg *config.Config, by *edition) (map[string]pattern, error) {
	registry := plugins.Registry(plugins.Deps{
		Index: h.beliefs, Tiers: h.index, Guesses: h.beliefs.approx, Hasher: h.hasher, Tokenizer: by,
		Adapters: serving{h.residency}, Resident: h.residency,
		Sessions: h.sessions, Seed: uint64(h.started.UnixNano()),
	})
	patterns := make(map[string]pattern, len(cfg.Specialists))
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		p, err := (&builder{cfg: cfg, sp: sp, registry: registry}).pattern()
		if err != nil {
			return nil, err
		}
		patterns[sp.Name] = p
	}
	return patterns, nil
}

// specialists gives every specialist its pipeline. It changes nothing in the house but adds boards.
func (h *house) specialists(cfg *config.Config, patterns map[string]pattern) []*ensemble.Specialist {
	list := make([]*ensemble.Specialist, len(cfg.Specialists))
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		list[i] = h.specialist(sp, patterns[sp.Name])
	}
	return list
}

func (h *house) specialist(sp *config.Specialist, p pattern) *ensemble.Specialist {
	name, b, away := sp.Name, h.board(sp), h.book(sp.Name)
	serving := &pipeline{house: h, protocol: p.protocol, watch: h.routes.measure(name, p.profiles...)}
	return &ensemble.Specialist{
		Name: name, BlockSize: sp.BlockSize, Context: h.contextOf(name).Load, Draft: sp.Scheduler.SpeculativeWindow,
		Adapters: adapterNames(*sp), Created: h.started.Unix(),
		Version: sp.Version, Versions: adapterVersions(sp), Fallback: sp.Fallback,
		Board: b.board, Load: b.load, Away: away.full, Shed: away.shed, Aging: sp.Scheduler.Aging, Workflow: p.workflow,
		Pipeline: serving, Insight: serving,
	}
}

// profileSpec returns a profile of the configuration, or a preset. Admission by blocks needs the prompt's chain always.
func profileSpec(cfg *config.Config, name string) routing.ProfileSpec {
	if p, ok := cfg.Profiles[name]; ok {
		return plugins.Complete(fromConfig(name, p), true)
	}
	spec, _ := plugins.Preset(name) // the configuration was checked: it is one of the two
	return plugins.Complete(spec, true)
}

func fromConfig(name string, p config.Profile) routing.ProfileSpec {
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

// profileFaults builds every profile of the file for nothing but its faults.
func profileFaults(path string, cfg *config.Config) error {
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
		_, err := routing.Build(profileSpec(cfg, name), registry)
		var faults routing.Faults
		if errors.As(err, &faults) {
			for _, f := range faults {
				all.List = append(all.List, faultOf(cfg, f))
			}
		} else if err != nil {
			return err
		}
	}
	if len(all.List) == 0 {
		return nil
	}
	return all
}

// faultOf is a fault of a profile's composition as one of the file.
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

// serving answers the adapter filter: the replicas that have the adapter loaded; where none is known to, all may be
// tried.
type serving struct{ residency *adapters.Residency }

// Serving implements plugins.Adapters.
func (s serving) Serving(_, adapter string, among index.HostBitmap) index.HostBitmap {
	var loaded index.HostBitmap
	for _, host := range s.residency.LoadedOn(adapter) {
		loaded.Set(index.HostID(host))
	}
	if loaded = loaded.And(among); loaded.Empty() {
		return among
	}
	return loaded
}
