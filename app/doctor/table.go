package doctor

// Checks are what is looked at of each replica, in the order in which one explains the next.
var Checks = []Check{
	{"reachable", "the health path of the engine", "nothing is sent to the replica", "start it, or correct `url`, `api_key` or " +
		"`fleet.allow_addresses`", true, reachable},
	{"engine", "the owner in the list of models, names of metrics, paths", "streams are not continued, metrics and adapters are " +
		"asked for in another engine's way", "`engine`", false, kind},
	{"version", "the release that the engine tells", "a release older than any that was tried: events and answers may have " +
		"other forms", "upgrade the engine", false, version},
	{"model", "the list of models, and a request", "every request is answered 404 by the engine", "`model`, or the engine's name " +
		"of the model", false, model},
	{"context", "the longest prompt and answer that the engine takes", "requests between both lengths fail at the engine",
		"`context`, or the engine's length", false, contextLength},
	{"block_size", "the size of blocks in events, else in metrics: the one that the engine has resolved, hybrid models too",
		"prompts are matched with blocks that the engine does not have", "`block_size`", false, blockSize},
	{"pool", "the engine's blocks", "more is admitted than fits, or less than could be", "`blocks`", false, pool},
	{"tokens", "ten prompts, tokenized and rendered here and by the engine, with tools and without", "caches are matched by " +
		"guesses", "`tokenizer` and `chat_template`", false, tokens},
	{"adapters", "the list of models, and whether adapters are loaded at run time", "requests for the adapter fail",
		"`path`, or the engine's option", false, adapters},
	{"metrics", "the metrics page", "load of other clients and the size of the pool are not seen", "the engine's option", false,
		metrics},
	{"priority", "a request with a priority", "forwarded priorities are refused by the engine", "the engine's option, or " +
		"`forward_priority: false`", false, priority},
	{"cache_report", "the usage of a prompt that is sent twice", "predicted hits cannot be compared with delivered ones",
		"the engine's option", false, cacheReport},
	{"prefix_cache", "the same", "nothing is reused, wherever a request is sent", "the engine's option", false, prefixCache},
	{"events.connect", "the source of the replica's events", "what the engine has cached is guessed", "the engine's endpoint, " +
		"or `events.zmq`", true, connects},
	{"events.topic", "the topics of messages", "all of the engine's events are filtered out", "`events.topic`", true, topic},
	{"events.silent", "whether the blocks of a new prompt are told of", "the replica is scored by what was routed there",
		"the engine's option, its `--name` or the replica's `name`", false, silent},
	{"events.replay", "the replay socket", "lost batches stay lost", "the engine's endpoint, or `events.replay`", true, replay},
	{"events.publisher", "ranks and publishers", "another engine speaks for the replica, or speaks too", "ports, names, " +
		"`events.source`", true, publisher},
	{"events.gaps", "numbers of batches, and what the gateway has lost", "a part of the cache is not known", "`events.replay`",
		true, gaps},
	{"events.lag", "the time from the engine's clock to here", "prompts are sent to where blocks were", "the network, or the " +
		"source", true, lag},
	{"hashes", "what events call the blocks of a known prompt", "no block is found again", "`hash_scheme` and `hash_seed`", false,
		hashes},
	{"hits", "hits that were predicted and delivered, at a running gateway", "something that the other checks do not see",
		"`octet explain`", true, hits},
	{"clock", "the date of the engine's answers, and of its events", "lag and logs are wrong", "NTP", false, clock},
}

// SharedChecks are what is looked at of what all replicas share.
var SharedChecks = []SharedCheck{
	{"redis", "the server, its eviction policy and the stream's key", "the stream is evicted, or cannot be read",
		"`maxmemory-policy`, `events.redis`", redis},
	{"nats", "the server and the stream's limits", "messages are dropped before they are read", "`nats stream edit`", nats},
	{"clock", "the clocks of Redis, NATS and the peer", "lag is wrong", "NTP", sharedClock},
}

// atConnect returns true if a gateway logs what the check finds when an engine is there first, and nothing else of it is
// logged then.
func (c *Check) atConnect() bool {
	switch c.Name {
	case "version", "model", "context", "block_size", "pool", "adapters", "metrics", "clock":
		return true
	}
	return false
}
