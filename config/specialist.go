package config

import "time"

// UnknownContext is the context of a specialist, in tokens, where neither the file nor an engine says.
const UnknownContext = 32768

// Specialist is one model of the ensemble with its own scheduler, pool, profile and published SLO.
type Specialist struct {
	// What clients put in "model"; unique. "octet" is taken: it means routed.
	Name string `yaml:"name" required:"true" form:"name"`
	// What is served under the name: a tag of the weights, free, of at most 256 bytes. A change of it begins a
	// probation.
	Version string `yaml:"version" form:"version"`
	// Tokens a KV block holds; the engine's own.
	BlockSize int `yaml:"block_size" default:"16" range:"1..1024"`
	// How its prompts' blocks are hashed. octet = our own way; engines' events must then say which tokens a block
	// holds. Any other is the engines' own, of all its replicas: their hashes say what a block holds, and events need
	// no tokens. What vLLM calls its --prefix-caching-hash-algo, or sglang. A long prompt costs 0.35 µs a block, where
	// octet costs 0.015.
	HashScheme string `yaml:"hash_scheme" default:"octet" enum:"octet sha256 sha256_cbor xxhash xxhash_cbor sglang"`
	// The PYTHONHASHSEED that its vLLM engines run with: required with their schemes.
	HashSeed string `yaml:"hash_seed"`
	// The specialist that takes primary traffic while this one is demoted; empty = none. Chains are followed, cycles
	// refused.
	Fallback string `yaml:"fallback" form:"name"`
	// Longest prompt and answer together, in tokens; 0 = the longest that an engine which answers says it takes, 32768
	// while none says.
	Context int `yaml:"context" default:"0" range:"0..16777216"`
	// What its engines take in messages: text, and image where it is listed. Images for others are refused.
	Modalities []string `yaml:"modalities" enum:"text image"`
	// Tokens that an image counts in a prompt, until the engine's usage says what all of it came to.
	ImageTokens int `yaml:"image_tokens" default:"576" range:"0..1048576"`
	// A name under profiles, or a preset's.
	Profile string `yaml:"profile" default:"default" form:"name"`
	// Which profile routes which requests, instead of profile: the first rule that a request fits. The last rule has no
	// when: it is for all that no other fits. At most 64.
	Profiles []ProfileRule `yaml:"profiles"`
	// How many replicas work on one request: one (single); one that computes the prompt and one that answers
	// (disaggregated); before these, one that makes tokens of the prompt (three-step).
	Workflow string `yaml:"workflow" default:"single" enum:"single disaggregated three-step"`
	// When a prompt is worth a replica of its own, and what happens when that fails. Of no effect where workflow is
	// single.
	Disaggregation Disaggregation `yaml:"disaggregation"`
	// Where prompts become tokens: in the gateway by the model's tokenizer.json (its path, with a "/"), in the gateway
	// as emulated engines do it (builtin), by the engine's /tokenize (engine), not at all (none: chunks of text stand
	// for tokens), or whichever is available (auto).
	Tokenizer string `yaml:"tokenizer" default:"auto" form:"tokenizer"`
	// The Jinja chat template beside a tokenizer.json: a .jinja file, or a tokenizer_config.json. Empty =
	// chat_template.jinja in the same directory, else tokenizer_config.json there.
	ChatTemplate string `yaml:"chat_template"`
	// Share of prompts that were tokenized in the gateway and are compared with what the engine's /tokenize says,
	// beside the comparison at connect. After a difference the replica is scored approximately.
	TokenizerCheck float64 `yaml:"tokenizer_check" default:"0.01" range:"0..1"`
	// Time an engine's /tokenize may take; text chunks stand for tokens after it. After a failure it is not asked for
	// ten times as long.
	TokenizerTimeout time.Duration `yaml:"tokenizer_timeout" default:"500ms" range:"1ms..1m"`
	// The bounds of each replica's queue and batch.
	Scheduler Scheduler `yaml:"scheduler"`
	// State-space layers beside attention.
	Hybrid Hybrid `yaml:"hybrid"`
	// The pool's size by arithmetic, for replicas with blocks: 0.
	HBM *HBM `yaml:"hbm"`
	// LoRA adapters that may be asked for.
	Adapters []Adapter `yaml:"adapters"`
	// Most adapters that are loaded on one replica; 0 = as many as its engine says, or 256.
	AdapterSlots int `yaml:"adapter_slots" default:"0" range:"0..256"`
	// When adapters are loaded, unloaded and moved.
	AdapterRules AdapterRules `yaml:"adapter_rules"`
	// What is published and kept.
	SLO SLO `yaml:"slo"`
	// Requests while no replica serves, and replicas that sleep.
	Sleep *Sleep `yaml:"sleep"`
	// The engines that serve it: at least one, unless they are found by discover; at most 256 of all specialists, those
	// that are found included (512 in a program built with hosts512).
	Replicas []Replica `yaml:"replicas" required:"true" unless:"discover"`
	// Where further ones are found.
	Discover *Discover `yaml:"discover"`
}

// Scheduler bounds one replica's queue and batch.
type Scheduler struct {
	// Requests in the batch at once.
	MaxRunning int `yaml:"max_running" default:"64" range:"1..65536"`
	// Requests in the queue before 429 queue_full.
	MaxWaiting int `yaml:"max_waiting" default:"1024" range:"0..1000000"`
	// Waiting this long is worth one step of priority; 0s = never.
	Aging time.Duration `yaml:"aging" default:"0s" range:"0s..24h"`
	// Share of a replica's time for computing again what preempted requests had; beyond it the more urgent wait for the
	// next place, unless that would cost them a deadline. 0 = no bound.
	RedoShare float64 `yaml:"redo_share" default:"0.03" range:"0..1"`
	// A waiting request lets so many later ones of its tenant and priority go ahead whose LoRA adapter is running,
	// while its own is not; 0 = none. Requests with a deadline let none go ahead.
	AdapterOvertakes int `yaml:"adapter_overtakes" default:"4" range:"0..64"`
	// Adapters that one engine takes at once: with fewer running none goes ahead. 0 = as many as the engine says, or
	// one if it does not.
	MaxAdapters int `yaml:"max_adapters" default:"0" range:"0..4096"`
	// Draft tokens that admission reserves for one request; 0 = no speculation.
	SpeculativeWindow int `yaml:"speculative_window" default:"0" range:"0..64"`
	// Prompt tokens prefilled in one step beside running decodes.
	ChunkedPrefillTokens int `yaml:"chunked_prefill_tokens" default:"2048" range:"1..1048576"`
}

// Hybrid describes layers whose state is bytes per sequence, not per token.
type Hybrid struct {
	// One sequence's snapshot; 0 = pure attention.
	SSMStateBytes Size `yaml:"ssm_state_bytes" default:"0" range:"0..1TiB"`
}

// HBM sizes the pool: (total − weights − activation_reserve) ÷ bytes a block, once, for good.
type HBM struct {
	// The accelerator's memory that the engine may use.
	Total Size `yaml:"total" required:"true" range:"1MiB..1PiB"`
	// What the weights take.
	Weights Size `yaml:"weights" required:"true" range:"0..1PiB"`
	// What is kept free for activations.
	ActivationReserve Size `yaml:"activation_reserve" default:"0" range:"0..1PiB"`
	// The model's shape.
	Geometry Geometry `yaml:"geometry" required:"true"`
}

// Geometry gives the bytes one token takes: 2 × layers × kv_heads × head_dim × dtype_bytes.
type Geometry struct {
	// Layers of the model.
	Layers int `yaml:"layers" required:"true" range:"1..4096"`
	// Key-value heads a layer.
	KVHeads int `yaml:"kv_heads" required:"true" range:"1..4096"`
	// Numbers a head.
	HeadDim int `yaml:"head_dim" required:"true" range:"1..65536"`
	// Bytes a number.
	DTypeBytes int `yaml:"dtype_bytes" default:"2" range:"1..8"`
	// Layers that hold KV at all, in a hybrid; 0 = every layer.
	AttentionLayers int `yaml:"attention_layers" default:"0" range:"0..4096"`
}

// Adapter is one LoRA adapter of a specialist: "specialist:name" as a model.
type Adapter struct {
	// Unique within the specialist.
	Name string `yaml:"name" required:"true" form:"name"`
	// Where the engine loads it from; empty = the engine has it already.
	Path string `yaml:"path"`
	// As that of a specialist. A change of it or of path is a new edition: it is loaded beside the one before, requests
	// move to it once it is there, and its probation begins.
	Version string `yaml:"version" form:"version"`
	// Replicas that keep it loaded; 0 = all, as long as they have slots that no other adapter is asked for in.
	Replicas int `yaml:"replicas" default:"0" range:"0..512"`
}

// AdapterRules are when the adapters of a specialist are loaded, unloaded and moved.
type AdapterRules struct {
	// Adapters a minute that one replica unloads to make room for others; beyond it requests for others wait.
	SwapsPerMinute int `yaml:"swaps_per_minute" default:"30" range:"1..6000"`
	// Time that an engine has for one load or unload.
	LoadTimeout time.Duration `yaml:"load_timeout" default:"1m" range:"10ms..1h"`
	// After a load that failed the replica is left alone so long; twice as long after each further one, 5m at most.
	RetryAfter time.Duration `yaml:"retry_after" default:"5s" range:"10ms..5m"`
	// Requests for one adapter, as a share of the max_running of the replicas that have it, above which another loads
	// it.
	Grow float64 `yaml:"grow" default:"0.5" range:"0.01..10"`
	// The same of the replicas that would be left, at or below which one may unload it again.
	Shrink float64 `yaml:"shrink" default:"0.2" range:"0..1"`
	// Time that the share must be above grow.
	Hold time.Duration `yaml:"hold" default:"5s" range:"1ms..1h"`
	// Time that it must be below shrink, and that an adapter on more replicas than needed must be unused.
	Calm time.Duration `yaml:"calm" default:"1m" range:"1ms..24h"`
	// Requests wait so long for an adapter of a replica to become idle that can go for theirs; then the least used of
	// those takes no more requests.
	Patience time.Duration `yaml:"patience" default:"2s" range:"1ms..10m"`
	// Time that an edition stays loaded after it was replaced and last used.
	Linger time.Duration `yaml:"linger" default:"10s" range:"1ms..1h"`
	// Half-life of what is remembered of requests for an adapter: the one with the fewest goes first.
	Memory time.Duration `yaml:"memory" default:"30m" range:"1s..168h"`
}

// SLO is the window over which a specialist's latencies are published.
type SLO struct {
	// What a percentile looks back over.
	Window time.Duration `yaml:"window" default:"5m" range:"1s..24h"`
	// With fewer samples a value is absent.
	MinSamples int `yaml:"min_samples" default:"20" range:"1..1000000"`
	// The floor under which it is demoted.
	Correctness Correctness `yaml:"correctness"`
	// What is done for it under load.
	Escalation Escalation `yaml:"escalation"`
}

// Escalation relieves a specialist under load, step by step: first unsure requests go to their second choice and
// shadows are suspended, then requests of the least urgent priority are refused. Pressure is the share of its queue
// that is taken, or of max_queue_wait that it would keep a request waiting, whichever is larger.
type Escalation struct {
	// Pressure at which unsure requests are diverted.
	Divert float64 `yaml:"divert" default:"0.5" range:"0.01..1"`
	// Pressure at or below which they are not any more.
	Relax float64 `yaml:"relax" default:"0.25" range:"0.001..1"`
	// Pressure at which the priority floor goes up, by one priority that is asked with at a time.
	Shed float64 `yaml:"shed" default:"0.8" range:"0.01..1"`
	// Pressure at or below which it comes down.
	Ease float64 `yaml:"ease" default:"0.5" range:"0.001..1"`
	// Time the pressure must last for a step up.
	Hold time.Duration `yaml:"hold" default:"1s" range:"1ms..1h"`
	// Time it must be gone for a step down.
	Calm time.Duration `yaml:"calm" default:"5s" range:"1ms..1h"`
}

// Correctness is the pass rate a specialist owes, from verdicts on its answers.
type Correctness struct {
	// The least pass rate.
	Floor float64 `yaml:"floor" default:"0.95" range:"0..1"`
	// What the rate looks back over.
	Window time.Duration `yaml:"window" default:"24h" range:"1m..720h"`
	// With fewer verdicts there is no rate: a specialist is neither demoted nor does it recover.
	MinSamples int `yaml:"min_samples" default:"50" range:"1..1000000"`
	// Time above the floor before it takes primary traffic again.
	RecoverFor time.Duration `yaml:"recover_for" default:"10m" range:"0s..168h"`
	// Share of the requests meant for a demoted specialist that are copied to it, so that it can recover.
	ProbeShare float64 `yaml:"probe_share" default:"0.1" range:"0.001..1"`
}
