package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"octet/config"
	"octet/gateway/ensemble"
	"octet/gateway/handover"
	"octet/routing"
	"octet/routing/plugins"
)

// nearPick keeps a prefill leg's best candidate in a slot, for scorers of the decode leg that prefer replicas near it.
var nearPick = routing.Pick{Slot: plugins.Near, Put: plugins.Near.Put}

// Pipeline is how requests of a specialist are routed.
type Pipeline struct {
	Workflow routing.Workflow
	Profiles []*routing.Profile // that it selects by
	// Protocols are by the way of Workflow that a plan goes; nil where one replica serves a request.
	Protocols []func() ensemble.Protocol
}

// builder builds one specialist's pipeline.
type builder struct {
	cfg      *config.Config
	sp       *config.Specialist
	registry routing.Registry
	built    map[built]*routing.Profile
	profiles []*routing.Profile // of built, in the order in which they were
}

// built is what a profile is built for.
type built struct {
	name string
	role routing.Role
}

// Build builds the pipelines of all specialists, by specialist.
func Build(cfg *config.Config, registry routing.Registry) (map[string]Pipeline, error) {
	all := make(map[string]Pipeline, len(cfg.Specialists))
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		p, err := (&builder{cfg: cfg, sp: sp, registry: registry}).build()
		if err != nil {
			return nil, fmt.Errorf("specialist %s: %w", sp.Name, err)
		}
		all[sp.Name] = p
	}
	return all, nil
}

func (b *builder) build() (Pipeline, error) {
	b.built = map[built]*routing.Profile{}
	if len(b.sp.Profiles) > 0 {
		return b.chosen()
	}
	workflow, protocol, err := b.way(b.sp.Profile)
	if err != nil {
		return Pipeline{}, err
	}
	return Pipeline{Workflow: workflow, Profiles: b.profiles, Protocols: []func() ensemble.Protocol{protocol}}, nil
}

// chosen builds the pipeline of a specialist whose requests choose their profile.
func (b *builder) chosen() (Pipeline, error) {
	var ways []routing.Way
	var p Pipeline
	rules := make(plugins.Rules, len(b.sp.Profiles))
	for i := range b.sp.Profiles {
		rule := &b.sp.Profiles[i]
		at := slices.IndexFunc(ways, func(w routing.Way) bool { return w.Name == rule.Use })
		if at < 0 {
			at = len(ways)
			workflow, protocol, err := b.way(rule.Use)
			if err != nil {
				return Pipeline{}, err
			}
			ways = append(ways, routing.Way{Name: rule.Use, Workflow: workflow})
			p.Protocols = append(p.Protocols, protocol)
		}
		rules[i] = ruleOf(rule, i, at)
	}
	workflow, err := routing.Handle(rules, ways...)
	if err != nil {
		return Pipeline{}, err
	}
	p.Workflow, p.Profiles = workflow, b.profiles
	return p, nil
}

// ruleOf returns the rule that stands in place i as plugins take it.
func ruleOf(rule *config.ProfileRule, i, way int) plugins.Rule {
	when := rule.Fits()
	r := plugins.Rule{
		Intent: when.Intent, PriorityMin: when.PriorityMin, PriorityMax: when.PriorityMax,
		TokensMin: when.PromptTokensMin, TokensMax: when.PromptTokensMax,
		Way: way, Next: rule.IfNone == "next", Why: fmt.Sprintf("profiles[%d]: %s", i, when),
	}
	if when.Intent == config.Unspecified {
		r.Intent, r.Undeclared = "", true
	}
	for _, name := range slices.Sorted(maps.Keys(when.Header)) {
		r.Headers = append(r.Headers,
			routing.Header{Name: http.CanonicalHeaderKey(name), Value: when.Header[name]})
	}
	return r
}

// way builds the workflow in which a profile selects where no leg names one of its own, and its protocol, which is nil
// if one replica serves a request.
func (b *builder) way(profile string) (routing.Workflow, func() ensemble.Protocol, error) {
	if b.sp.Workflow == "single" {
		p, err := b.profile(profile, routing.RoleBoth)
		if err != nil {
			return nil, nil, err
		}
		return routing.Single(p), nil, nil
	}
	legs, prefill, err := b.legs(profile)
	if err != nil {
		return nil, nil, err
	}
	flow, err := routing.NewFlow(legs...)
	if err != nil {
		return nil, nil, err
	}
	accept := time.Duration(0)
	if prefill.ByLoad() { // the prefill is asked first, also where both engines could be asked at once
		accept = b.sp.Disaggregation.AcceptTimeout
	}
	return flow, func() ensemble.Protocol { return &handover.Protocol{Room: rand.Int64, Accept: accept} }, nil
}

// legs returns the steps of disaggregated serving, a preprocessor's before them if there is one, and the profile of the
// prefill leg. profile is the one of legs that name none.
func (b *builder) legs(profile string) (legs []routing.Leg, byPrefill *routing.Profile, err error) {
	d := b.sp.Disaggregation
	if b.sp.Workflow == "three-step" {
		leg, _, err := b.leg(handover.Preprocess, profile, d.Preprocess, routing.RolePreprocess)
		if err != nil {
			return nil, nil, err
		}
		legs = append(legs, leg)
	}
	prefill, byPrefill, err := b.leg(handover.Prefill, profile, d.Prefill, routing.RolePrefill)
	if err != nil {
		return nil, nil, err
	}
	prefill.Pick = nearPick
	prefill.Decider = plugins.LongAndCold{MinPrompt: d.MinPromptTokens, MinUncached: d.MinUncachedTokens,
		Pick: plugins.Near}
	decode := routing.Leg{Name: handover.Decode}
	decode.Selector, err = b.profile(cmp.Or(d.DecodeProfile, profile), routing.RoleDecode, plugins.Near)
	if err != nil {
		return nil, nil, err
	}
	return append(legs, prefill, decode), byPrefill, nil
}

// onFailure is what a leg's failure leads to, as the configuration spells it.
var onFailure = map[string]routing.FailurePolicy{"retry": routing.Retry, "skip": routing.Skip, "fail": routing.Fail}

// leg returns a leg as it is configured, and the profile that it selects by: another one than profile if it names one.
func (b *builder) leg(name, profile string, c config.Leg, role routing.Role) (routing.Leg, *routing.Profile, error) {
	p, err := b.profile(cmp.Or(c.Profile, profile), role)
	leg := routing.Leg{Name: name, OnFailure: onFailure[c.OnFailure], Tries: c.Attempts, Selector: p}
	return leg, p, err
}

// profile builds a profile for a role, once. The slots of given, which the role implies, are filled before it selects.
func (b *builder) profile(name string, role routing.Role, given ...routing.AnySlot) (*routing.Profile, error) {
	key := built{name, role}
	if p := b.built[key]; p != nil {
		return p, nil
	}
	spec := completed(b.cfg, name)
	spec.Role, spec.Given = role, append(spec.Given, given...)
	profile, err := routing.Build(spec, b.registry)
	if err != nil {
		return nil, err
	}
	b.built[key], b.profiles = profile, append(b.profiles, profile)
	return profile, nil
}
