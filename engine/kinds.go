package engine

// Kind says what one kind of engine offers and accepts. Code that depends on the kind of an engine asks for a field of
// it and does not compare names.
type Kind struct {
	Name    string // as the configuration spells it
	Streams Streams

	TakesSalt bool // it keeps prefix caches apart by the body's cache_salt, and its cache events say by which

	Bit         Kinds // by which Members name it
	PassUnknown bool  // its replicas pass on what Members do not have for it, unless the configuration says otherwise
}

// kinds is the one table of engine kinds.
var kinds = [...]Kind{
	{Name: "vllm", Bit: VLLM, TakesSalt: true,
		Streams: Streams{Counted: CountsUsage, Chats: true, Completions: true, IDs: true}},
	{Name: "sglang", Bit: SGLang, TakesSalt: true, Streams: Streams{Counted: CountsUsage, Completions: true}},
	{Name: "llamacpp", Bit: LlamaCpp, Streams: Streams{Counted: CountsTimings, Completions: true}},
	{Name: "openai", Bit: OpenAI, PassUnknown: true},
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
