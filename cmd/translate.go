package cmd

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/classifier"
	"octet/config"
	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/routing/fleet"
	"octet/scheduler/gate"
	"octet/slo"
)

// Sections of the configuration, as the rooms take them.

func breakerConfig(cfg *config.Config) fleet.Breaker {
	b := cfg.Fleet.Breaker
	return fleet.Breaker{Failures: b.Failures, Window: b.Window, OpenFor: b.OpenFor, Probes: b.Probes, Ratio: b.Ratio,
		MinRequests: b.MinRequests, MaxEjected: b.MaxEjected}
}

func clientConfig(cfg *config.Config, rep *config.Replica) openai.Config {
	return openai.Config{
		URL: rep.URL, Engine: rep.Engine, Bearer: rep.APIKey, HealthPath: rep.HealthPath,
		HeaderTimeout: cfg.Limits.TTFTTimeout, IdleTimeout: cfg.Limits.IdleTimeout,
		MaxIdle: max(rep.MaxRunning, 64),
	}
}

func limits(cfg *config.Config) ensemble.Limits {
	l := cfg.Limits
	return ensemble.Limits{
		BodyBytes: int64(l.BodyBytes), ResponseBytes: int64(l.ResponseBytes), HeaderBytes: int(l.HeaderBytes),
		HeaderFields: l.HeaderFields, JSONDepth: l.JSONDepth, Messages: l.Messages,
		Prompts: l.Prompts, Choices: l.Choices, Entries: l.ListEntries, Stops: l.StopStrings,
		ParameterBytes: int(l.ParameterBytes),
		MaxStreams:     l.MaxStreams, MaxAttempts: l.MaxAttempts, Continuations: l.Continuations,
		RetryBudget: l.RetryBudget, RetryBurst: l.RetryBurst,
		Connections: l.Connections, ConnectionsPerAddress: l.ConnectionsPerAddress,
		Inbound:    ensemble.Inbound{Bodies: l.ArrivingBodies, Bytes: int64(l.ArrivingBytes), Share: l.ArrivingShare},
		QueueBytes: int64(l.QueueBytes), EventBytes: int(l.EventBytes), HeaderTimeout: l.HeaderTimeout,
		KeepaliveTimeout: l.KeepaliveTimeout,
		BodyTimeout:      l.BodyTimeout, AnswerTimeout: l.AnswerTimeout, TTFTTimeout: l.TTFTTimeout,
		IdleTimeout: l.IdleTimeout, WriteTimeout: l.WriteTimeout, Drain: l.Drain, MaxQueueWait: l.MaxQueueWait,
	}
}

func intentNames(cfg *config.Config) []string { return slices.Sorted(maps.Keys(cfg.Intents)) }

func newCascade(cfg *config.Config, outcomes *prometheus.CounterVec) (*classifier.Cascade, error) {
	c := classifier.Config{
		Adapters: map[string][]string{}, Intents: map[string]classifier.IntentConfig{}, Detectors: cfg.Router.Detectors,
		Fallback: cfg.Router.Fallback, RejectRefuses: cfg.Router.Reject == "refuse",
		Viable: cfg.Router.Classifier.Viable,
	}
	for _, sp := range cfg.Specialists {
		c.Specialists = append(c.Specialists, sp.Name)
		c.Adapters[sp.Name] = adapterNames(sp)
	}
	for name, in := range cfg.Intents {
		c.Intents[name] = classifier.IntentConfig{
			Specialist: in.Specialist, ShadowThreshold: in.ShadowThreshold, DivertThreshold: in.DivertThreshold,
			PriorityFloor: in.PriorityFloor,
		}
	}
	for _, r := range cfg.Router.Rules {
		c.Rules = append(c.Rules, classifier.Rule(r))
	}
	bound, err := boundModel(cfg)
	if err != nil {
		return nil, err
	}
	if bound != nil {
		c.Model = &timed{bound, cfg.Router.Classifier.Timeout, outcomes}
	}
	return classifier.New(c)
}

func adapterNames(sp config.Specialist) []string {
	names := make([]string, len(sp.Adapters))
	for i, a := range sp.Adapters {
		names[i] = a.Name
	}
	return names
}

// anonymousTenant is the name of requests without a key.
const anonymousTenant = config.Anonymous

func (h *house) newTenants(cfg *config.Config) (*tenant.Table, error) {
	earlier, sharing, secret := h.tenants, h.sharing, h.saltSecret(cfg)
	list := make([]tenant.Config, len(cfg.Auth.Tenants))
	for i, t := range cfg.Auth.Tenants {
		list[i] = tenant.Config{
			Name: t.Name, KeySHA256: t.KeySHA256, PriorityMax: t.PriorityMax,
			RefusePriority: t.PriorityPolicy == "refuse",
			Specialists:    t.Specialists, CacheSalt: t.CacheSalt, Secret: secret, ShareCache: cfg.Auth.ShareCache,
			MaxStreams:        t.MaxStreams,
			RequestsPerSecond: t.Rate.RequestsPerSecond, Burst: t.Rate.Burst,
			TokensPerMinute: int(t.Rate.TokensPerMinute),
		}
	}
	if !cfg.Auth.Anonymous {
		return tenant.NewTable(list, nil, earlier, sharing)
	}
	a := cfg.Auth.AnonymousLimits
	return tenant.NewTable(list, &tenant.Config{
		Name: anonymousTenant, Secret: secret, PriorityMax: a.PriorityMax, MaxStreams: a.MaxStreams,
		RequestsPerSecond: a.Rate.RequestsPerSecond, Burst: a.Rate.Burst, TokensPerMinute: int(a.Rate.TokensPerMinute),
	}, earlier, sharing)
}

// saltSecret is what tenants' cache salts are derived from: the configured secret, else one that this process has
// drawn.
func (h *house) saltSecret(cfg *config.Config) []byte {
	if cfg.Auth.Secret != "" {
		return []byte(cfg.Auth.Secret)
	}
	return h.drawn
}

// salts reports whether prompts of some tenant are kept apart from others' in the engines' caches.
func salts(cfg *config.Config) bool {
	has := func(t config.Tenant) bool { return t.CacheSalt != "" || !cfg.Auth.ShareCache }
	return slices.ContainsFunc(cfg.Auth.Tenants, has)
}

func judgesOf(cfg *config.Config) ensemble.Judges {
	return ensemble.Judges{Whose: ensemble.Verdicts(cfg.Auth.Verdicts), Names: cfg.Outcomes.Tenants}
}

// adminHosts are the names by which the admin listener is called: those that are configured, and the address that it
// listens on.
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

// tenantWeights are the tenants' shares of a busy replica.
func tenantWeights(cfg *config.Config) map[string]int {
	weights := map[string]int{anonymousTenant: cfg.Auth.AnonymousLimits.Weight}
	for _, t := range cfg.Auth.Tenants {
		weights[t.Name] = t.Weight
	}
	return weights
}

// weight is the share of a tenant in the configuration that is in force.
func (h *house) weight(tenant string) int { return (*h.weights.Load())[tenant] }

func sloConfig(sp *config.Specialist) slo.Config {
	c := sp.SLO.Correctness
	return slo.Config{
		Window: sp.SLO.Window, MinSamples: sp.SLO.MinSamples,
		Correctness: slo.CorrectnessConfig{Floor: c.Floor, Window: c.Window, MinSamples: c.MinSamples,
			RecoverFor: cmp.Or(c.RecoverFor, -1), ProbeShare: c.ProbeShare},
	}
}

func escalationConfig(sp *config.Specialist) slo.EscalationConfig {
	e := sp.SLO.Escalation
	return slo.EscalationConfig{Divert: e.Divert, Relax: e.Relax, Shed: e.Shed, Ease: e.Ease, Hold: e.Hold,
		Calm: e.Calm}
}

// knobs are the thresholds and floors that operators may override, with the configured values as defaults.
func knobs(cfg *config.Config) []slo.Knob {
	var all []slo.Knob
	for _, name := range intentNames(cfg) {
		in := cfg.Intents[name]
		all = append(all, withFloor(slo.IntentKnobs(name, in.ShadowThreshold, in.DivertThreshold), in.PriorityFloor)...)
	}
	if _, given := cfg.Intents[classifier.Unspecified]; !given {
		all = append(all, slo.IntentKnobs(classifier.Unspecified, 0, 0)...)
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

// board returns a specialist's windows and escalation: those that it has, unless their shape was changed.
func (h *house) board(sp *config.Specialist) board {
	if b, ok := h.boards[sp.Name]; ok && b.shape == sp.SLO {
		return b
	}
	b := board{sp.SLO, slo.NewBoard(sloConfig(sp)), slo.NewEscalation(escalationConfig(sp))}
	if old, ok := h.boards[sp.Name]; ok { // what was judged stays judged
		now := time.Now()
		_ = b.board.Breaker().Restore(old.board.Breaker().Save(now), now) // saved a moment ago: it can be restored
	}
	h.boards[sp.Name] = b
	return b
}

// books are of those whom one specialist has sent away. They outlive a configuration.
type books struct {
	full *gate.Book // its replicas had no place
	shed *gate.Book // its load had raised the floor
}

func (h *house) book(specialist string) books {
	b, ok := h.books[specialist]
	if !ok {
		b = books{gate.NewBook(time.Second), gate.NewBook(time.Second)}
		h.books[specialist] = b
	}
	return b
}
