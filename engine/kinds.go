package engine

// Kind says what one kind of engine offers and accepts. Code that depends on the kind of an engine asks for a field of
// it and does not compare names. The zero Kind offers nothing.
type Kind struct {
	Name    string // as the configuration spells it
	Streams Streams

	TakesSalt     bool // it keeps prefix caches apart by the body's cache_salt, and its cache events say by which
	LowFirst      bool // of its priorities the lower value runs first
	AdapterSuffix bool // an adapter is asked for as "model:adapter"; otherwise by its own name in "model"
	// POST /tokenize takes a chat or a text, in the form of vLLM's API, and renders it as it serves it
	TokenizesChats bool
	Transfer       Transfer // how a prompt's keys and values go to another engine of the kind

	Bit         Kinds // by which Members name it
	PassUnknown bool  // its replicas pass on what Members do not have for it, unless the configuration says otherwise

	Paths Paths
	Marks Marks
}

// Transfer is how engines of a kind hand over the keys and values of a prompt.
type Transfer uint8

// The ways of handing over.
const (
	TransfersNothing Transfer = iota
	TransfersByPull           // the engine that answers fetches them: vLLM's kv_transfer_params
	// both engines meet at a bootstrap server while both serve the request: SGLang's. One that only decodes serves
	// no request that is not handed over
	TransfersByMeeting
)

// Paths are where a kind of engine answers what is not part of the OpenAI API. An empty path means that it does not.
type Paths struct {
	Health        string // GET: 200 is healthy
	Tokenize      string // POST
	Template      string // POST: a chat to its prompt, for engines whose Tokenize takes text alone
	Metrics       string // GET
	LoadAdapter   string // POST
	UnloadAdapter string // POST
	Slots         string // GET: the context of one of its slots, where that is what bounds a request
}

// Marks are how an engine of a kind can be told from others.
type Marks struct {
	Owner   string // owned_by in its list of models
	Metrics string // what the names of its metrics begin with
	Paths   []Mark // in the order in which they are asked
}

// Mark is a path where a kind of engine answers with an object that has the member.
type Mark struct {
	Path, Member string
	Shared       bool // other kinds may have it too: its answer makes the kind likely, not certain
}

// Names of the kinds that code has to name.
const (
	Generic = "openai" // what an engine is taken for of which nothing is known but that it serves the OpenAI API
	Default = "vllm"   // what an engine is taken for that plays every kind
)

// ModelsPath is where every kind lists its models.
const ModelsPath = "/v1/models"

// kinds is the one table of engine kinds. An engine of which nothing tells the kind is asked for marks in this order.
var kinds = [...]Kind{
	{
		Name: "llamacpp", Bit: LlamaCpp,
		Streams: Streams{Counted: CountsTimings, Completions: true, Untidy: true},
		Paths: Paths{Health: "/health", Tokenize: "/tokenize", Template: "/apply-template", Metrics: "/metrics",
			Slots: "/props"},
		Marks: Marks{Owner: "llamacpp", Metrics: "llamacpp:",
			Paths: []Mark{{Path: "/props", Member: "default_generation_settings"}}},
	},
	{
		Name: "sglang", Bit: SGLang, TakesSalt: true, AdapterSuffix: true, TokenizesChats: true,
		Transfer: TransfersByMeeting,
		Streams:  Streams{Counted: CountsUsage, Completions: true},
		Paths: Paths{Health: "/health", Tokenize: "/tokenize", Metrics: "/metrics",
			LoadAdapter: "/load_lora_adapter", UnloadAdapter: "/unload_lora_adapter"},
		Marks: Marks{Owner: "sglang", Metrics: "sglang:",
			Paths: []Mark{{Path: "/server_info", Member: "tp_size"}, {Path: "/get_server_info", Member: "tp_size"}}},
	},
	{
		Name: Default, Bit: VLLM, TakesSalt: true, LowFirst: true, TokenizesChats: true, Transfer: TransfersByPull,
		Streams: Streams{Counted: CountsUsage, Chats: true, Completions: true, IDs: true},
		Paths: Paths{Health: "/health", Tokenize: "/tokenize", Metrics: "/metrics",
			LoadAdapter: "/v1/load_lora_adapter", UnloadAdapter: "/v1/unload_lora_adapter"},
		Marks: Marks{Owner: "vllm", Metrics: "vllm:",
			Paths: []Mark{{Path: "/version", Member: "version", Shared: true}}},
	},
	{
		Name: Generic, Bit: OpenAI, PassUnknown: true,
		Streams: Streams{Untidy: true},
		Paths:   Paths{Health: ModelsPath},
	},
}

// AllKinds returns the table of engine kinds, in the order in which engines of unknown kind are asked for their marks.
func AllKinds() []Kind { return kinds[:] }

// KindOf returns the kind of that name, and false for a name that is not in the table.
func KindOf(name string) (Kind, bool) {
	for i := range kinds {
		if kinds[i].Name == name {
			return kinds[i], true
		}
	}
	return Kind{}, false
}

// AdapterModel returns the name by which an engine of the kind knows an adapter of a model.
func (k *Kind) AdapterModel(model, adapter string) string {
	if k.AdapterSuffix {
		return model + ":" + adapter
	}
	return adapter
}

// Priority turns our sign (larger is sooner) into the engine's.
func (k *Kind) Priority(p int) int {
	if k.LowFirst {
		return -p
	}
	return p
}
