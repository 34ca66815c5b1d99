package adapt

// plugin is what stands for a plugin of an endpoint picker: its name in a profile, where it stands there, and what must
// be prepared for it.
type plugin struct {
	name    string // "" if it has no counterpart, or is a way to run profiles
	stage   string // prepare, filter, score or pick
	needs   []string
	params  map[string]string // ours by theirs
	handles bool              // it runs two profiles, for prefill and decode
	note    string
}

// What scorers and filters read.
var (
	byDepths    = []string{"tokenize", "block-hashes", "prefix-depths"}
	byForecasts = []string{"tokenize", "block-hashes", "prefix-depths", "predicted-latency"}
)

// eppPlugins are the types of plugins of the Gateway API Inference Extension's picker and of llm-d's, older names
// included.
var eppPlugins = map[string]plugin{
	"by-label": {note: "no counterpart by itself: label-selector with matchLabels, " +
		"under filter"},
	"by-label-selector":               selector,
	"label-selector-filter":           selector,
	"prefill-filter":                  {name: "prefill-endpoints", stage: "filter"},
	"prefill-endpoints-filter":        {name: "prefill-endpoints", stage: "filter"},
	"decode-filter":                   {name: "decode-endpoints", stage: "filter"},
	"decode-endpoints-filter":         {name: "decode-endpoints", stage: "filter"},
	"prefix-cache-affinity-filter":    {name: "prefix-cache-affinity", stage: "filter", needs: byForecasts},
	"slo-headroom-tier-filter":        {name: "slo-headroom-tier", stage: "filter", needs: byForecasts},
	"prefix-cache":                    cached,
	"prefix-scorer":                   cached,
	"prefix-cache-scorer":             cached,
	"precise-prefix-cache-scorer":     cached,
	"approximate-prefix-cache-scorer": {name: "approx-prefix", stage: "score", needs: byDepths[:2]},
	"active-request-scorer":           {name: "least-load", stage: "score"},
	"queue-scorer":                    {name: "queue-depth", stage: "score"},
	"queue-depth-scorer":              {name: "queue-depth", stage: "score"},
	"load-aware-scorer": {name: "load-aware", stage: "score",
		params: map[string]string{"threshold": "threshold"}},
	"kv-cache-scorer":              {name: "kv-utilization", stage: "score"},
	"kv-cache-utilization-scorer":  {name: "kv-utilization", stage: "score"},
	"running-requests-size-scorer": {name: "running-requests", stage: "score"},
	"token-load-scorer":            {name: "token-load", stage: "score", needs: []string{"in-flight-load"}},
	"lora-affinity-scorer":         {name: "lora-affinity", stage: "score"},
	"session-affinity-scorer":      {name: "session-affinity", stage: "score", needs: []string{"session-key"}},
	"no-hit-lru-scorer":            {name: "no-hit-lru", stage: "score", needs: byDepths},
	"latency-scorer":               {name: "latency-headroom", stage: "score", needs: byForecasts},
	"predicted-latency-producer":   {name: "predicted-latency", stage: "prepare", needs: byForecasts},
	"inflight-load-producer":       {name: "in-flight-load", stage: "prepare", needs: []string{"in-flight-load"}},
	"max-score":                    {name: "max-score", stage: "pick"},
	"max-score-picker":             {name: "max-score", stage: "pick"},
	"random-picker":                {name: "random", stage: "pick"},
	"weighted-random-picker":       {name: "weighted-random", stage: "pick"},
	"single-profile":               {stage: "handle"},
	"single-profile-handler":       {stage: "handle"},
	"pd-profile-handler":           {stage: "handle", handles: true},
	"disagg-profile-handler":       {stage: "handle", handles: true},
	"prefill-header-handler": {stage: "handle",
		note: "replicas[].prefill_header is for decoding engines behind llm-d's sidecar"},
}

var (
	selector = plugin{name: "label-selector", stage: "filter",
		params: map[string]string{"matchLabels": "matchLabels", "matchExpressions": "matchExpressions"}}
	cached = plugin{name: "cache-affinity", stage: "score", needs: byDepths}
)

// eppHints say more of keys that have no counterpart.
var eppHints = map[string]string{
	"saturationDetector":     "no counterpart: each replica has a queue of its own, and refuses what would be late",
	"featureGates":           "no counterpart",
	"data":                   "no counterpart: replicas are probed and their metrics read in any case",
	"dataLayer":              "no counterpart: replicas are probed and their metrics read in any case",
	"priorityBands":          "no counterpart: priorities are X-Priority, up to the tenant's priority_max",
	"defaultPriorityBand":    "no counterpart: priorities are X-Priority, up to the tenant's priority_max",
	"maxPrefixBlocksToMatch": "no counterpart: a whole prompt is matched",
	"hashBlockSize":          "no counterpart: specialists[].block_size is the engines' own, in tokens",
	"blockSize":              "no counterpart: specialists[].block_size is the engines' own, in tokens",
	"kvEventsConfig": "no counterpart here: replicas[].events, or discover.template.events: {zmq: " +
		"\"tcp://{host}:5557\"}",
	"indexerConfig": "no counterpart here: specialists[].block_size, hash_scheme and hash_seed are " +
		"the engines' own",
	"maxNumOfEndpoints": "no counterpart: the others in rank are asked where the first fails, up to " +
		"limits.max_attempts",
	"threshold": "no counterpart here: specialists[].disaggregation.min_uncached_tokens, in tokens",
}
