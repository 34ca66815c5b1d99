package config

// ProfileRule has requests of a kind routed by a profile.
type ProfileRule struct {
	// The requests that it is for; absent = all.
	When *When `yaml:"when"`
	// A name under profiles, or a preset's.
	Use string `yaml:"use" required:"true" form:"name"`
	// What becomes of a request for which the profile leaves no replica: refused, as with a profile alone (fail), or
	// routed by the next rule that it fits (next).
	IfNone string `yaml:"if_none" default:"fail" enum:"fail next"`
}

// When says which requests a ProfileRule is for: those that fulfil all of it.
type When struct {
	// The declared intent; "unspecified" = none was declared. Empty = any.
	Intent string `yaml:"intent" form:"name"`
	// The least priority, after the tenant's ceiling.
	PriorityMin int `yaml:"priority_min" default:"-100" range:"-100..100"`
	// The highest priority, after the tenant's ceiling.
	PriorityMax int `yaml:"priority_max" default:"100" range:"-100..100"`
	// The fewest tokens of the prompt.
	PromptTokensMin int `yaml:"prompt_tokens_min" default:"0" range:"0..16777216"`
	// The most tokens of the prompt; 0 = no bound.
	PromptTokensMax int `yaml:"prompt_tokens_max" default:"0" range:"0..16777216"`
	// Values that request headers must have, letter for letter, by the headers' names, which limits.profile_headers
	// lists. An empty value = the header is absent or empty.
	Header map[string]string `yaml:"header"`
}

// Always is the When of a rule that has none: every request fulfils it.
func Always() When { return When{PriorityMin: -100, PriorityMax: 100} }

// covers returns true if every request that fulfils o fulfils w, too.
func (w *When) covers(o *When) bool {
	within := func(most, in int) bool { return most == 0 || in != 0 && in <= most }
	for name, value := range canonical(w.Header) {
		if other, ok := canonical(o.Header)[name]; !ok || other != value {
			return false
		}
	}
	return (w.Intent == "" || w.Intent == o.Intent) &&
		w.PriorityMin <= o.PriorityMin && o.PriorityMax <= w.PriorityMax &&
		w.PromptTokensMin <= o.PromptTokensMin && within(w.PromptTokensMax, o.PromptTokensMax)
}
