package config

// Profile is one routing pipeline by the names of its plugins, in the order they run.
// Which plugins exist and what parameters they take is checked where profiles are built.
type Profile struct {
	// What is computed first: tokens, block hashes, prefix depths …
	Prepare []PluginRef `yaml:"prepare" form:"plugin"`
	// Which replicas may take the request at all.
	Filter []PluginRef `yaml:"filter" form:"plugin"`
	// How good each is, weighted.
	Score []PluginRef `yaml:"score" form:"weighted"`
	// What decides.
	Pick PluginRef `yaml:"pick" required:"true" form:"plugin"`
}

// PluginRef names one plugin of a profile with its parameters: "health", {concurrency: {max: 64}}, and under score
// also {least-load: 1} or {least-load: {weight: 1, …}}.
type PluginRef struct {
	Name   string
	Params map[string]any // string, bool, int, float64, []any and map[string]any; nil where none were given
	Weight float64        // of a scorer, ≥ 0; 1 where none was given; 0 for the others
	Line   int            // in the file; 0 = set from outside it
	Path   string         // such as profiles.mine.score[0]
}
