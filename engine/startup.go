package engine

// Build is where engines of a kind tell which release they are. The zero Build tells nothing.
type Build struct {
	Paths  []string // GET: the first that answers with an object that has Member, a text
	Member string
	Since  string // the oldest release whose answers or events Octet was tried with; "" is not known
}

// Flags are options that engines of a kind are started with, as they are pasted. An empty one does not exist.
type Flags struct {
	Name        string // of the model
	Context     string // tokens of prompt and answer together
	BlockSize   string
	CacheReport string // usage says how much of a prompt came from the cache
	PrefixCache string
	Metrics     string
	Priority    string // requests are scheduled by their priority
	Adapters    string // that are loaded while it runs
	Seed        string // of its block hashes
	Scheme      string // likewise
	Events      string // that publishes cache events on ZeroMQ: its value is JSON
	EventsOn    string // the members of that JSON beside the endpoints
}

var vllmFlags = Flags{
	Name: "--served-model-name", Context: "--max-model-len", BlockSize: "--block-size",
	CacheReport: "--enable-prompt-tokens-details", PrefixCache: "--enable-prefix-caching",
	Metrics: "no --disable-log-stats", Priority: "--scheduling-policy priority",
	Adapters: "--enable-lora, and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True in its environment",
	Seed:     "PYTHONHASHSEED", Scheme: "--prefix-caching-hash-algo",
	Events: "--kv-events-config", EventsOn: `"enable_kv_cache_events":true,"publisher":"zmq"`,
}

var sglangFlags = Flags{
	Name: "--served-model-name", Context: "--context-length", BlockSize: "--page-size",
	CacheReport: "--enable-cache-report", PrefixCache: "no --disable-radix-cache", Metrics: "--enable-metrics",
	Priority: "--enable-priority-scheduling", Adapters: "--enable-lora",
	Events: "--kv-events-config", EventsOn: `"publisher":"zmq"`,
}

var llamaFlags = Flags{Name: "--alias", Context: "--ctx-size", Metrics: "--metrics", Adapters: "--lora"}
