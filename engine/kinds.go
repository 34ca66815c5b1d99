package engine

// Kind says what one kind of engine offers and accepts. Code that depends on the kind of an engine asks for a field of it
// and does not compare names.
type Kind struct {
	Name string // as the configuration spells it
}

// kinds is the one table of engine kinds.
var kinds = [...]Kind{
	{Name: "vllm"},
	{Name: "sglang"},
	{Name: "llamacpp"},
	{Name: "openai"},
}

// KindOf returns the kind of that name, and false if there is none.
func KindOf(name string) (Kind, bool) {
	for _, k := range kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}
