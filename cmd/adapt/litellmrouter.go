package adapt

import (
	"fmt"
	"strings"
)

// strategies are LiteLLM's, and the preset that is closest.
var strategies = map[string]struct{ profile, differs string }{
	"simple-shuffle":        {"random", "random: weights, rpm and tpm of deployments do not count"},
	"least-busy":            {"least-load", ""},
	"latency-based-routing": {"default", "default: the least seconds of work, by queue, cache and measured pace"},
	"usage-based-routing": {"least-load", "least-load: what is in flight counts, not the tokens of the " +
		"last minute"},
	"usage-based-routing-v2": {"least-load", "least-load: what is in flight counts, not the tokens of the " +
		"last minute"},
	"cost-based-routing": {"default", "default: engines of one's own have no price"},
}

// general adapts general_settings.
func (l *litellm) general(v *value) {
	master := v.get("master_key")
	key := master.word()
	if key == "" {
		return
	}
	if name, named := strings.CutPrefix(key, "os.environ/"); named {
		if key, named = l.environ(name); !named || key == "" {
			l.notes.on(master, "left out, and requests without a key are served: the variable is not set "+
				"here, so its hash "+
				"is not known; add auth.tenants with key_sha256, and auth.anonymous: false")
			return
		}
	}
	l.draft.set("auth.anonymous", false, master)
	l.draft.set("auth.tenants[0].name", "master", master)
	l.draft.set("auth.tenants[0].key_sha256", hashOf(key), master)
	l.notes.add(master.line, master.path, "the key of the tenant master, as its SHA-256: it opens the data "+
		"listener alone; "+
		"operators have admin.token, and keys are no longer made by it")
}

// router adapts router_settings, and what litellm_settings say of the same where those do not.
func (l *litellm) router(router, module *value) {
	first := func(names ...string) *value {
		for _, name := range names {
			if v := router.get(name); v != nil {
				return v
			}
		}
		for _, name := range names {
			if v := module.get(name); v != nil {
				return v
			}
		}
		return nil
	}
	if v := first("timeout", "request_timeout"); v != nil {
		l.draft.seconds("limits.answer_timeout", v)
	}
	if v := first("stream_timeout"); v != nil {
		l.draft.seconds("limits.ttft_timeout", v)
	}
	if v := first("num_retries"); v != nil {
		l.draft.count("limits.max_attempts", v, 1)
	}
	if v := first("allowed_fails"); v != nil { // so many within a minute, and one more
		l.draft.count("fleet.breaker.failures", v, 1)
		l.draft.set("fleet.breaker.window", "1m", v)
	}
	if v := first("cooldown_time"); v != nil {
		l.draft.seconds("fleet.breaker.open_for", v)
	}
	if v := router.get("enable_pre_call_checks"); v.yes() {
		l.notes.on(v, "always so: a prompt that is too long for the model is refused at once")
	}
	l.strategy(router.get("routing_strategy"))
}

func (l *litellm) strategy(v *value) {
	name := v.word()
	if name == "" {
		return
	}
	found, known := strategies[name]
	if !known {
		l.notes.on(v, "%s has no counterpart: the profile is default", shown(name))
		return
	}
	if found.differs != "" {
		l.notes.add(v.line, v.path, found.differs)
	}
	if l.profile = found.profile; l.profile == "default" {
		l.profile = ""
	}
}

// fallbacks adapts a list of {model: [others]}.
func (l *litellm) fallbacks(v *value) {
	for _, entry := range v.list() {
		entry.each(func(model string, others *value) {
			from := l.groups[model]
			for i, other := range others.list() {
				to := l.groups[other.word()]
				switch {
				case from == nil || to == nil:
					l.notes.on(other, "left out: no specialist is made of one of the two")
				case i > 0 || from.fallback != nil:
					l.notes.on(other, "left out: a specialist has one fallback, and that one may have its own")
				case leads(to, from):
					l.notes.on(other, "left out: fallbacks would lead back to where they began")
				default:
					from.fallback = to
					l.draft.set(from.at+".fallback", to.name, other)
					l.notes.add(other.line, other.path, fmt.Sprintf("%s answers for %s while that is "+
						"demoted; a single "+
						"request that fails goes to another replica of its own specialist", to.name, from.name))
				}
			}
		})
	}
}

// leads reports whether the fallbacks of a specialist lead to another.
func leads(from, to *group) bool {
	for g := from; g != nil; g = g.fallback {
		if g == to {
			return true
		}
	}
	return false
}

// litellmHints say more of keys that have no counterpart.
var litellmHints = map[string]string{
	"rpm": "no counterpart: rates are tenants', " +
		"auth.tenants[].rate.requests_per_second; an engine's bound is max_running",
	"tpm":                      "no counterpart: rates are tenants', auth.tenants[].rate.tokens_per_minute",
	"weight":                   "no counterpart: replicas are chosen by what they have cached and to do",
	"model_group_alias":        "no counterpart: a specialist has one name",
	"context_window_fallbacks": "no counterpart: a prompt that is too long is 400 context_length_exceeded",
	"content_policy_fallbacks": "no counterpart: what an answer says is not judged",
	"default_fallbacks":        "no counterpart: a fallback is a specialist's own",
	"redis_host":               "no counterpart here: auth.shared has gateways count rates together by a Redis",
	"redis_url":                "no counterpart here: auth.shared has gateways count rates together by a Redis",
	"redis_port":               "no counterpart here: auth.shared.addr", "redis_password": "no counterpart " +
		"here: auth.shared.password",
	"database_url": "no counterpart: tenants stand in the configuration, and there is no database",
	"drop_params": "no counterpart: a parameter that an engine does not have is 400, or passed " +
		"on: replicas[].pass_unknown",
	"callbacks":             "no counterpart: /metrics, receipts and the log tell of requests",
	"success_callback":      "no counterpart: /metrics, receipts and the log tell of requests",
	"failure_callback":      "no counterpart: /metrics, receipts and the log tell of requests",
	"cache":                 "no counterpart: answers are not kept",
	"cache_params":          "no counterpart: answers are not kept",
	"environment_variables": "no counterpart: the environment is the process's own",
	"timeout":               "no counterpart: limits.answer_timeout is for all", "stream_timeout": "no " +
		"counterpart: limits.ttft_timeout is for all",
	"max_retries": "no counterpart: limits.max_attempts is for all",
	"num_retries": "no counterpart: router_settings said it already, or limits.max_attempts is for all",
}
