package plugins

import (
	"octet/kvpool"
	"octet/routing"
)

// Deps is what plugins need from the rest of the program.
type Deps struct {
	Index     Index         // nil: prefix-depths cannot be used
	Hasher    kvpool.Hasher // the same for everyone who shares the index
	Tokenizer Tokenizer     // nil: text chunks stand for token blocks
	Adapters  Adapters      // nil: every replica can serve every adapter
	Seed      uint64        // of every random draw
}

// Registry returns all plugins. Those of the endpoint picker (EPP) of the Gateway API Inference Extension are also known by
// the names that it has or had for them.
func Registry(d Deps) routing.Registry {
	return routing.Registry{
		"tokenize":      newTokenize(d),
		"block-hashes":  newBlockHashes(d),
		"prefix-depths": newPrefixDepths(d),

		"health":            newHealth(d),
		"role":              newRole(d),
		"prefill-endpoints": newPrefillEndpoints(d),
		"decode-endpoints":  newDecodeEndpoints(d),
		"adapter":           newAdapter(d),
		"breaker":           newBreaker(d),
		"concurrency":       newConcurrency(d),

		"cache-affinity":   newCacheAffinity(d),
		"least-load":       newLeastLoad(d),
		"least-work":       newLeastWork(d),
		"queue-depth":      newQueueDepth(d),
		"kv-utilization":   newKVUtilization(d),
		"running-requests": newRunningRequests(d),

		"max-score":   newMaxScore(d),
		"round-robin": newRoundRobin(d), // under score too
		"random":      newRandom(d),

		"prefill-endpoints-filter":     newPrefillEndpoints(d),
		"decode-endpoints-filter":      newDecodeEndpoints(d),
		"prefix-scorer":                newCacheAffinity(d),
		"prefix-cache-scorer":          newCacheAffinity(d),
		"precise-prefix-cache-scorer":  newCacheAffinity(d),
		"active-request-scorer":        newLeastLoad(d),
		"queue-scorer":                 newQueueDepth(d),
		"queue-depth-scorer":           newQueueDepth(d),
		"kv-cache-utilization-scorer":  newKVUtilization(d),
		"running-requests-size-scorer": newRunningRequests(d),
		"max-score-picker":             newMaxScore(d),
		"random-picker":                newRandom(d),
	}
}
