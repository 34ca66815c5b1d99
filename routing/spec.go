package routing

// ProfileSpec is a profile as configured: names and parameters, nothing resolved.
type ProfileSpec struct {
	Name    string
	Role    Role // what the profile selects for
	Prepare []PluginSpec
	Filter  []PluginSpec
	Score   []WeightedSpec
	Pick    PluginSpec

	// Headers are the request headers that plugins see. A plugin whose parameter names another is a fault. nil: any.
	Headers []string

	Given  []AnySlot // slots that the caller puts before Select
	Wanted []AnySlot // slots that the caller reads after Select; each needs a writer
	// AlwaysPrepare has the Preparers behind Wanted run for every request. Otherwise they are skipped, like all that no
	// Filter and no Picker needs, where there is a single candidate and so nothing to choose.
	AlwaysPrepare bool
}

// PluginSpec is one plugin of a profile.
type PluginSpec struct {
	Name   string         // under which a Registry knows it
	Params map[string]any // as decoded from YAML or JSON
	Pos    string         // where in the config, for faults; "" is made up from the profile
}

// WeightedSpec is a Scorer with its weight.
type WeightedSpec struct {
	PluginSpec
	Weight float64 // over 0
}

// Registry maps plugin names, aliases included, to what makes them.
type Registry map[string]Factory

// Factory makes a plugin. It reads every parameter that it knows through p, which collects the faults, and returns a
// plugin even where p has some: its slots are checked all the same.
type Factory func(p *Params) Plugin

// Stage is a step of a decision.
type Stage string

// The stages, in order.
const (
	StagePrepare Stage = "prepare"
	StageFilter  Stage = "filter"
	StageScore   Stage = "score"
	StagePick    Stage = "pick"
)
