package engine

import (
	"cmp"
	"slices"
)

// Kind says what one kind of engine offers and accepts. Code that depends on the kind of an engine asks for a field of
// it and does not compare names. The zero Kind offers nothing.
type Kind struct {
	Name    string // as the configuration spells it
	Streams Streams

	TakesSalt     bool // it keeps prefix caches apart by the body's cache_salt, and its cache events say by which
	LowFirst      bool // of its priorities the lower value runs first
	TopPAboveZero bool // it refuses top_p 0, which is the most probable token alone
	ListsAdapters bool // what it lists of adapters is all that it has
	AdapterSuffix bool // an adapter is asked for as "model:adapter"; otherwise by its own name in "model"
	// POST /tokenize takes a chat or a text, in the form of vLLM's API, and renders it as it serves it
	TokenizesChats bool
	Lists          Listing
	Transfer       Transfer // how a prompt's keys and values go to another engine of the kind
	Hashes         Hashing  // how its cache events name blocks
	Ranks          Ranking  // how one of its data-parallel ranks is asked
	Rendering      Rendering
	Served         Served // beside chat completions
	Revision       Revision
	Build          Build
	Flags          Flags

	Bit         Kinds // by which Members name it
	PassUnknown bool  // its replicas pass on what Members do not have for it, unless the configuration says otherwise

	Paths Paths
	Marks Marks
}

// Listing is what a list of models says of an engine of the kind.
type Listing uint8

// What lists of models say.
const (
	ListsAny      Listing = iota // nothing: the engine takes other names too
	ListsServed                  // a model that is not listed is not served
	ListsStanding                // the entry of a model says whether it is loaded, in a server of many models
)

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

// Hashing is how engines of a kind hash the blocks of their caches.
type Hashing uint8

// The ways of hashing.
const (
	HashesUnknown  Hashing = iota // it may be any way
	HashesNothing                 // it publishes no blocks
	HashesAsVLLM                  // SHA-256 or xxHash, seeded by PYTHONHASHSEED
	HashesAsSGLang                // SHA-256, without a seed
)

// Paths are where a kind of engine answers what is not part of the OpenAI API. An empty path means that it does not.
type Paths struct {
	Health        string // GET: 200 is healthy
	Tokenize      string // POST
	Template      string // POST: a chat to its prompt, for engines whose Tokenize takes text alone
	Metrics       string // GET
	Adapters      string // GET: the adapters that it has had since it began, where it loads none later
	LoadAdapter   string // POST
	UnloadAdapter string // POST
	Slots         string // GET: the context of one of its slots, where that is what bounds a request
	Asleep        string // GET: {"is_sleeping": true} while the engine has put its model aside
	Sleep         string // POST: puts the model aside, with all that the prefix cache holds
	Wake          string // POST: takes it up again
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
	Auto    = "auto"   // no kind: it is found out by asking the engine
	Generic = "openai" // what an engine is taken for of which nothing is known but that it serves the OpenAI API
	Default = "vllm"   // what an engine is taken for that plays every kind
)

// ModelsPath is where every kind lists its models.
const ModelsPath = "/v1/models"

// Table is a list of engine kinds. An engine of which nothing tells the kind is asked for marks in its order.
type Table []Kind

// kinds is the one table of engine kinds: a further kind is one literal.
var kinds = Table{
	{
		Name: "llamacpp", Bit: LlamaCpp, Hashes: HashesNothing, ListsAdapters: true, Lists: ListsStanding,
		Streams: Streams{Counted: CountsTimings, Completions: true, Usage: true, Untidy: true},
		Paths: Paths{Health: "/health", Tokenize: "/tokenize", Template: "/apply-template", Metrics: "/metrics",
			Slots: "/props", Adapters: "/lora-adapters", Wake: "/models/load", Sleep: "/models/unload"},
		Rendering: Rendering{Function: []ToolMember{{"name", ""}, {"description", `""`}, {"parameters", "{}"}}},
		Marks: Marks{Owner: "llamacpp", Metrics: "llamacpp:",
			Paths: []Mark{{Path: "/props", Member: "default_generation_settings"}}},
		Revision: Revision{Listed: true, Paths: []string{"/props"}, Members: []string{"model_path"}},
		Build:    Build{Paths: []string{"/props"}, Member: "build_info", Since: "b4748"}, Flags: llamaFlags,
	},
	{
		Name: "sglang", Bit: SGLang, TakesSalt: true, TopPAboveZero: true, AdapterSuffix: true, TokenizesChats: true,
		Transfer: TransfersByMeeting, Hashes: HashesAsSGLang,
		Ranks:   Ranking{Member: "routed_dp_rank", Met: "disagg_prefill_dp_rank"},
		Streams: Streams{Counted: CountsUsage, Completions: true, Usage: true},
		Paths: Paths{Health: "/health", Tokenize: "/tokenize", Metrics: "/metrics",
			LoadAdapter: "/load_lora_adapter", UnloadAdapter: "/unload_lora_adapter",
			Sleep: "/release_memory_occupation", Wake: "/resume_memory_occupation"},
		Rendering: Rendering{Chosen: true, Function: []ToolMember{{"description", "null"}, {"name", ""},
			{"parameters", "null"}, {"strict", "false"}}},
		Marks: Marks{Owner: "sglang", Metrics: "sglang:",
			Paths: []Mark{{Path: "/server_info", Member: "tp_size"}, {Path: "/get_server_info", Member: "tp_size"}}},
		Revision: Revision{Paths: []string{"/get_model_info", "/model_info"},
			Members: []string{"model_path", "weight_version"}},
		Build: Build{Paths: []string{"/server_info", "/get_server_info"}, Member: "version"}, Flags: sglangFlags,
	},
	{
		Name: Default, Bit: VLLM, TakesSalt: true, LowFirst: true, TopPAboveZero: true, TokenizesChats: true,
		ListsAdapters: true, Transfer: TransfersByPull, Lists: ListsServed,
		Hashes: HashesAsVLLM, Ranks: Ranking{Header: "X-data-parallel-rank"},
		Streams: Streams{Counted: CountsUsage, Chats: true, Reasoning: true, Completions: true, Usage: true,
			IDs: true},
		Paths: Paths{Health: "/health", Tokenize: "/tokenize", Metrics: "/metrics",
			LoadAdapter: "/v1/load_lora_adapter", UnloadAdapter: "/v1/unload_lora_adapter",
			Asleep: "/is_sleeping", Sleep: "/sleep?level=1", Wake: "/wake_up"},
		Rendering: Rendering{Others: true, Function: []ToolMember{{"name", ""}, {"description", "null"},
			{"parameters", "null"}}},
		Served: Served{Doors: Messages | Responses, Salted: Responses, Ranked: Responses, Unbilled: Messages,
			Partial: Messages | Responses},
		Marks: Marks{Owner: "vllm", Metrics: "vllm:",
			Paths: []Mark{{Path: "/version", Member: "version", Shared: true}}},
		Revision: Revision{Listed: true},
		Build:    Build{Paths: []string{"/version"}, Member: "version", Since: "0.10.0"}, Flags: vllmFlags,
	},
	{
		Name: Generic, Bit: OpenAI, PassUnknown: true,
		Streams:   Streams{Usage: true, Untidy: true},
		Rendering: Rendering{Format: true}, // it may have all that it is sent
		Paths:     Paths{Health: ModelsPath},
		Served:    Served{Doors: Messages | Responses},
	},
}

// AllKinds returns the kinds that Octet knows by itself. It is read-only.
func AllKinds() Table { return kinds }

// Named returns the kind of that name, and false for a name that is not in the table.
func (t Table) Named(name string) (Kind, bool) {
	for i := range t {
		if t[i].Name == name {
			return t[i], true
		}
	}
	return Kind{}, false
}

// Names returns the names of the kinds, in the order of their bits.
func (t Table) Names() []string {
	sorted := slices.SortedFunc(slices.Values(t), func(a, b Kind) int { return cmp.Compare(a.Bit, b.Bit) })
	names := make([]string, len(sorted))
	for i := range sorted {
		names[i] = sorted[i].Name
	}
	return names
}

// AdapterModel returns the name by which an engine of the kind knows an adapter of a model.
func (k *Kind) AdapterModel(model, adapter string) string {
	switch {
	case k.ScalesAdapters():
		return model
	case k.AdapterSuffix:
		return model + ":" + adapter
	}
	return adapter
}

// ScalesAdapters returns true if requests say in the body how much they want of each adapter, by its number, and the
// model stays the same.
func (k *Kind) ScalesAdapters() bool { return k.Paths.Adapters != "" }

// Priority turns our sign (larger is sooner) into the engine's.
func (k *Kind) Priority(p int) int {
	if k.LowFirst {
		return -p
	}
	return p
}
