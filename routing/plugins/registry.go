package plugins

import (
	"octet/kvpool"
	"octet/routing"
)

// Deps is what plugins need from the rest of the program.
type Deps struct {
	Index     Index         // nil: prefix-depths cannot be used
	Tiers     Tiered        // nil: tier-depths cannot be used
	Guesses   Guesses       // nil: approx-prefix cannot be used
	Hasher    kvpool.Hasher // the same for all that share the index
	Tokenizer Tokenizer     // nil: text chunks stand for token blocks
	Adapters  Adapters      // nil: every replica can serve every adapter
	Resident  Resident      // nil: adapters are known only from engines' reports
	Sessions  *Sessions     // nil: sessions last as long as the registry
	Seed      uint64        // of every random draw
}

// Registry returns all plugins, those of Register included, by every name that they have.
//
//nolint:funlen // one literal, a line a plugin
func Registry(d Deps) routing.Registry {
	if d.Sessions == nil {
		d.Sessions = NewSessions(0)
	}
	r := routing.Registry{
		"tokenize":            newTokenize(d),
		"block-hashes":        newBlockHashes(d),
		"prefix-depths":       newPrefixDepths(d),
		"tier-depths":         newTierDepths(d),
		"session-key":         newSessionKey(d),
		"consistent-hash-key": newHashKey(d),
		"locality":            newLocality(d),
		"in-flight-load":      newInFlightLoad(d),
		"predicted-latency":   newPredictedLatency(d),
		"tenant":              newTenant(d),

		"health":                newHealth(d),
		"role":                  newRole(d),
		"label-selector":        newLabels(d),
		"prefill-endpoints":     newPrefillEndpoints(d),
		"decode-endpoints":      newDecodeEndpoints(d),
		"adapter":               newAdapter(d),
		"breaker":               newBreaker(d),
		"concurrency":           newConcurrency(d),
		"prefix-cache-affinity": newPrefixAffinity(d),
		"slo-headroom-tier":     newHeadroomTier(d),
		"topology":              newTopology(d),
		"utilization":           newUtilization(d),

		"cache-affinity":     newCacheAffinity(d),
		"approx-prefix":      newApproxPrefix(d),
		"least-load":         newLeastLoad(d),
		"least-work":         newLeastWork(d),
		"queue-depth":        newQueueDepth(d),
		"load-aware":         newLoadAware(d),
		"running-requests":   newRunningRequests(d),
		"kv-utilization":     newKVUtilization(d),
		"token-load":         newTokenLoad(d),
		"lora-affinity":      newLoRAAffinity(d),
		"session-affinity":   newSessionAffinity(d),
		"no-hit-lru":         newNoHitLRU(d),
		"latency-headroom":   newLatency(d),
		"node-locality":      newNear(d),
		"preempting-penalty": newPreempting(d),
		"device-aware":       newDeviceAware(d),
		"dynamo-cost":        newDynamoCost(d),
		"conductor":          newConductor(d),
		"preble-e2":          newPrebleE2(d),
		"lmetric":            newLMetric(d),

		"max-score":       newMaxScore(d),
		"round-robin":     newRoundRobin(d), // under score too
		"session":         newSession(d),
		"consistent-hash": newConsistentHash(d),
		"random":          newRandom(d),
		"weighted-random": newWeightedRandom(d),
		"softmax":         newSoftmax(d),
		"power-of-two":    newPowerOfTwo(d),
		"direct":          newDirect(d),
	}
	for alias, name := range aliases {
		r[alias] = r[name]
	}
	addRegistered(r, d)
	return r
}

// aliases are the names that plugins have, or had, in the endpoint picker (EPP) of the Gateway API Inference Extension
// and its successor, and the names of Dynamo's router modes.
var aliases = map[string]string{
	"by-label":                        "label-selector",
	"by-label-selector":               "label-selector",
	"label-selector-filter":           "label-selector",
	"prefill-filter":                  "prefill-endpoints",
	"prefill-endpoints-filter":        "prefill-endpoints",
	"decode-filter":                   "decode-endpoints",
	"decode-endpoints-filter":         "decode-endpoints",
	"prefix-cache-affinity-filter":    "prefix-cache-affinity",
	"slo-headroom-tier-filter":        "slo-headroom-tier",
	"prefix-scorer":                   "cache-affinity",
	"prefix-cache-scorer":             "cache-affinity",
	"precise-prefix-cache-scorer":     "cache-affinity",
	"approximate-prefix-cache-scorer": "approx-prefix",
	"active-request-scorer":           "least-load",
	"queue-scorer":                    "queue-depth",
	"queue-depth-scorer":              "queue-depth",
	"load-aware-scorer":               "load-aware",
	"kv-cache-scorer":                 "kv-utilization",
	"kv-cache-utilization-scorer":     "kv-utilization",
	"running-requests-size-scorer":    "running-requests",
	"token-load-scorer":               "token-load",
	"lora-affinity-scorer":            "lora-affinity",
	"session-affinity-scorer":         "session-affinity",
	"no-hit-lru-scorer":               "no-hit-lru",
	"latency-scorer":                  "latency-headroom",
	"predicted-latency-producer":      "predicted-latency",
	"inflight-load-producer":          "in-flight-load",
	"max-score-picker":                "max-score",
	"random-picker":                   "random",
	"weighted-random-picker":          "weighted-random",
	"device-aware-weighted":           "device-aware",
}
