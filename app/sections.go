package app

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"octet/config"
	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/routing/fleet"
	"octet/slo"
)

// This file turns sections of the configuration into what the rooms take.

func breakerConfig(cfg *config.Config) fleet.Breaker {
	b := cfg.Fleet.Breaker
	return fleet.Breaker{Failures: b.Failures, Window: b.Window, OpenFor: b.OpenFor, Probes: b.Probes, Ratio: b.Ratio,
		MinRequests: b.MinRequests, MaxEjected: b.MaxEjected}
}

func termsOf(cfg *config.Config) fleet.Terms {
	f := cfg.Fleet
	return fleet.Terms{Breaker: breakerConfig(cfg), DeathInterval: f.DeathInterval, ShutdownHold: f.ShutdownHold}
}

// clientConfig returns how a replica is spoken to; trust has its certificates.
func clientConfig(cfg *config.Config, rep *config.Replica, trust *certificates) openai.Config {
	return openai.Config{
		TLS: trust.client(rep.TLS),
		URL: rep.URL, Engine: rep.Engine, Rank: rep.Rank(), Bearer: rep.APIKey, HealthPath: rep.HealthPath,
		HeaderTimeout: cfg.Limits.TTFTTimeout, IdleTimeout: cfg.Limits.IdleTimeout,
		MaxIdle: max(rep.MaxRunning, 64),
	}
}

func limits(cfg *config.Config) ensemble.Limits {
	l := cfg.Limits
	return ensemble.Limits{
		BodyBytes: int64(l.BodyBytes), ResponseBytes: int64(l.ResponseBytes), HeaderBytes: int(l.HeaderBytes),
		HeaderFields: l.HeaderFields, ProfileHeaders: canonical(l.ProfileHeaders),
		ForwardHeaders: canonical(l.ForwardHeaders), JSONDepth: l.JSONDepth,
		Messages: l.Messages,
		Prompts:  l.Prompts, Choices: l.Choices, Entries: l.ListEntries, Stops: l.StopStrings,
		ParameterBytes: int(l.ParameterBytes),
		MaxStreams:     l.MaxStreams, MaxAttempts: l.MaxAttempts, Continuations: l.Continuations,
		RetryBudget: l.RetryBudget, RetryBurst: l.RetryBurst,
		Connections: l.Connections, ConnectionsPerAddress: l.ConnectionsPerAddress,
		Handshakes: l.Handshakes,
		Inbound:    ensemble.Inbound{Bodies: l.ArrivingBodies, Bytes: int64(l.ArrivingBytes), Share: l.ArrivingShare},
		QueueBytes: int64(l.QueueBytes), EventBytes: int(l.EventBytes), HeaderTimeout: l.HeaderTimeout,
		KeepaliveTimeout: l.KeepaliveTimeout,
		BodyTimeout:      l.BodyTimeout, AnswerTimeout: l.AnswerTimeout, TTFTTimeout: l.TTFTTimeout,
		IdleTimeout: l.IdleTimeout, WriteTimeout: l.WriteTimeout, Drain: l.Drain, MaxQueueWait: l.MaxQueueWait,
		Series: cfg.Metrics.MaxSeries,
	}
}

// canonical returns names of headers as net/http has them.
func canonical(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = http.CanonicalHeaderKey(name)
	}
	return out
}

func intentNames(cfg *config.Config) []string { return slices.Sorted(maps.Keys(cfg.Intents)) }

func adapterNames(sp config.Specialist) []string {
	names := make([]string, len(sp.Adapters))
	for i, a := range sp.Adapters {
		names[i] = a.Name
	}
	return names
}

// salts returns true if prompts of some tenant are kept apart from others' in the engines' caches.
func salts(cfg *config.Config) bool {
	has := func(t config.Tenant) bool { return t.CacheSalt != "" || !cfg.Auth.ShareCache }
	return slices.ContainsFunc(cfg.Auth.Tenants, has)
}

func judgesOf(cfg *config.Config) ensemble.Judges {
	return ensemble.Judges{Whose: ensemble.Verdicts(cfg.Auth.Verdicts), Names: cfg.Outcomes.Tenants}
}

// adminHosts returns the names by which the admin listener may be called: those that are configured, and the address
// that it listens on.
func adminHosts(cfg *config.Config) []string {
	hosts := make([]string, 0, len(cfg.Admin.Hosts)+1)
	for _, name := range cfg.Admin.Hosts {
		hosts = append(hosts, strings.ToLower(name))
	}
	if host, _, err := net.SplitHostPort(cfg.Listen.Admin); err == nil && host != "" {
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts
}

// sloConfig returns what a specialist publishes and owes. kinds of verdicts have a rate of their own.
func sloConfig(sp *config.Specialist, kinds []string) slo.Config {
	c := sp.SLO.Correctness
	return slo.Config{
		Window: sp.SLO.Window, MinSamples: sp.SLO.MinSamples,
		Correctness: slo.CorrectnessConfig{Floor: c.Floor, Window: c.Window, MinSamples: c.MinSamples,
			RecoverFor: cmp.Or(c.RecoverFor, -1), ProbeShare: c.ProbeShare, Kinds: kinds},
	}
}

func escalationConfig(sp *config.Specialist) slo.EscalationConfig {
	e := sp.SLO.Escalation
	return slo.EscalationConfig{Divert: e.Divert, Relax: e.Relax, Shed: e.Shed, Ease: e.Ease, Hold: e.Hold,
		Calm: e.Calm}
}

// knobs returns the thresholds and floors that operators may override, with the configured values as defaults.
func knobs(cfg *config.Config) []slo.Knob {
	var all []slo.Knob
	for _, name := range intentNames(cfg) {
		in := cfg.Intents[name]
		all = append(all, withFloor(slo.IntentKnobs(name, in.ShadowThreshold, in.DivertThreshold), in.PriorityFloor)...)
	}
	for _, sp := range cfg.Specialists {
		all = append(all, slo.SpecialistKnobs(sp.Name)...)
	}
	return all
}

func withFloor(knobs []slo.Knob, floor int) []slo.Knob {
	for i := range knobs {
		if strings.HasPrefix(knobs[i].Name, slo.PriorityFloor) {
			knobs[i].Default = float64(floor)
		}
	}
	return knobs
}
