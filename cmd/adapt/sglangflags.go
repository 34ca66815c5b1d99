package adapt

// policies are SGLang's, and the preset that is closest.
var policies = map[string]struct{ profile, differs string }{
	"cache_aware": {"cache-aware", "cache-aware: what is cached counts 3 to the load's 1, and no " +
		"threshold switches between them"},
	"power_of_two":       {"power-of-two", ""},
	"round_robin":        {"round-robin", ""},
	"random":             {"random", ""},
	"consistent_hashing": {"consistent-hash", "consistent-hash: by session, within a bound on the load"},
	"prefix_hash":        {"cache-aware", "cache-aware: a prompt's beginning goes where it is cached"},
}

// policies adapts how workers are chosen.
func (s *sglang) policies() {
	for _, f := range []struct{ flag, path string }{{"policy", "specialists[0].profile"},
		{"prefill-policy", "specialists[0].disaggregation.prefill.profile"},
		{"decode-policy", "specialists[0].disaggregation.decode_profile"}} {
		v := s.args.get(f.flag)
		name := v.word()
		if name == "" {
			continue
		}
		found, known := policies[name]
		if !known {
			s.notes.on(v, "%s has no counterpart: the profile is default", shown(name))
			continue
		}
		if found.differs != "" {
			s.notes.add(v.line, v.path, found.differs)
		}
		s.draft.set(f.path, found.profile, v)
	}
	if v := s.args.get("pd-disaggregation"); v.yes() {
		s.draft.set("specialists[0].workflow", "disaggregated", v)
	}
	if v := s.args.get("dp-aware"); v.yes() {
		s.notes.on(v, "replicas[].ranks says how many ranks an engine has: each is a replica then")
	}
}

// limits adapts bounds on requests.
func (s *sglang) limits() {
	d, get := s.draft, s.args.get
	if v := get("max-payload-size"); v != nil {
		d.count("limits.body_bytes", v, 0)
	}
	if v := get("request-timeout-secs"); v != nil {
		d.seconds("limits.answer_timeout", v)
	}
	if v := get("queue-timeout-secs"); v != nil {
		d.seconds("limits.max_queue_wait", v)
	}
	if v := get("max-concurrent-requests"); v != nil {
		if n, given := v.number(); given && n < 0 {
			s.notes.on(v, "no bound: limits.max_streams has its default")
		} else {
			waiting, _ := get("queue-size").number()
			d.count("limits.max_streams", v, int64(min(max(waiting, 0), 1e6)))
		}
	}
	if v := get("rate-limit-tokens-per-second"); v != nil {
		d.count("auth.anonymous_limits.rate.requests_per_second", v, 0)
	}
	switch retries := get("retry-max-retries"); {
	case get("disable-retries").yes():
		d.set("limits.max_attempts", 1, get("disable-retries"))
	case retries != nil:
		d.count("limits.max_attempts", retries, 1)
	}
}

// health adapts probes and breakers.
func (s *sglang) health() {
	d, get := s.draft, s.args.get
	for _, f := range []struct{ flag, path string }{
		{"health-failure-threshold", "fleet.unhealthy_after"}, {"health-success-threshold", "fleet.healthy_after"},
		{"cb-failure-threshold", "fleet.breaker.failures"}, {"cb-success-threshold", "fleet.breaker.probes"},
	} {
		if v := get(f.flag); v != nil {
			d.count(f.path, v, 0)
		}
	}
	for _, f := range []struct{ flag, path string }{
		{"health-check-timeout-secs", "fleet.probe_timeout"}, {"health-check-interval-secs", "fleet.probe_interval"},
		{"cb-timeout-duration-secs", "fleet.breaker.open_for"}, {"cb-window-duration-secs", "fleet.breaker.window"},
	} {
		if v := get(f.flag); v != nil {
			d.seconds(f.path, v)
		}
	}
	if v := get("disable-circuit-breaker"); v.yes() {
		d.set("fleet.breaker.failures", 10000, v)
		s.notes.on(v, "a breaker is always there: it opens after 10000 failures in a row")
	}
}

// sglangHints say more of flags that have no counterpart.
var sglangHints = map[string]string{
	"--cache-threshold": "no counterpart: profiles weigh cache against load, {cache-affinity: " +
		"3}, {least-load: 1}",
	"--balance-abs-threshold": "no counterpart: profiles weigh cache against load, {cache-affinity: " +
		"3}, {least-load: 1}",
	"--balance-rel-threshold": "no counterpart: profiles weigh cache against load, {cache-affinity: " +
		"3}, {least-load: 1}",
	"--eviction-interval-secs": "no counterpart: what was routed where is forgotten by events.approximate.ttl",
	"--max-tree-size": "no counterpart: events.approximate.blocks bounds what is remembered " +
		"of a replica",
	"--prometheus-port":      "no counterpart: /metrics is on listen.admin",
	"--prometheus-host":      "no counterpart: /metrics is on listen.admin",
	"--request-id-headers":   "no counterpart: the id of a request is X-Request-Id",
	"--cors-allowed-origins": "no counterpart: auth.origins lists whose pages may send requests without a key",
	"--log-dir":              "no counterpart: the log goes to standard error",
	"--enable-igw":           "no counterpart: every model is a specialist with replicas of its own",
	"--tokenizer-path": "no counterpart here: specialists[].tokenizer takes the path of a " +
		"tokenizer.json",
	"--selector": "no counterpart: discover.kubernetes.selector is of the labels of " +
		"EndpointSlices",
	"--service-discovery-port":      "no counterpart here: discover.kubernetes.port",
	"--service-discovery-namespace": "no counterpart here: discover.kubernetes.namespace",
}
