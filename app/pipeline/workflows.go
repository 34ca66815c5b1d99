package pipeline

import (
	"fmt"
	"math/rand/v2"
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
	Profiles []*routing.Profile       // that it selects by
	Protocol func() ensemble.Protocol // nil if one replica serves a request
}

// builder builds one specialist's pipeline.
type builder struct {
	cfg      *config.Config
	sp       *config.Specialist
	registry routing.Registry
	profiles []*routing.Profile
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
	if b.sp.Workflow == "single" {
		profile, err := b.profile("", routing.RoleBoth)
		if err != nil {
			return Pipeline{}, err
		}
		return Pipeline{Workflow: routing.Single(profile), Profiles: b.profiles}, nil
	}
	legs, prefill, err := b.legs()
	if err != nil {
		return Pipeline{}, err
	}
	flow, err := routing.NewFlow(legs...)
	if err != nil {
		return Pipeline{}, err
	}
	accept := time.Duration(0)
	if prefill.ByLoad() { // the prefill is asked first, also where both engines could be asked at once
		accept = b.sp.Disaggregation.AcceptTimeout
	}
	newProtocol := func() ensemble.Protocol { return &handover.Protocol{Room: rand.Int64, Accept: accept} }
	return Pipeline{Workflow: flow, Profiles: b.profiles, Protocol: newProtocol}, nil
}

// legs returns the steps of disaggregated serving, a preprocessor's before them if there is one, and the profile of the
// prefill leg.
func (b *builder) legs() (legs []routing.Leg, byPrefill *routing.Profile, err error) {
	d := b.sp.Disaggregation
	if b.sp.Workflow == "three-step" {
		leg, _, err := b.leg(handover.Preprocess, d.Preprocess, routing.RolePreprocess)
		if err != nil {
			return nil, nil, err
		}
		legs = append(legs, leg)
	}
	prefill, byPrefill, err := b.leg(handover.Prefill, d.Prefill, routing.RolePrefill)
	if err != nil {
		return nil, nil, err
	}
	prefill.Pick = nearPick
	prefill.Decider = plugins.LongAndCold{MinPrompt: d.MinPromptTokens, MinUncached: d.MinUncachedTokens,
		Pick: plugins.Near}
	decode := routing.Leg{Name: handover.Decode}
	if decode.Selector, err = b.profile(d.DecodeProfile, routing.RoleDecode, plugins.Near); err != nil {
		return nil, nil, err
	}
	return append(legs, prefill, decode), byPrefill, nil
}

// onFailure is what a leg's failure leads to, as the configuration spells it.
var onFailure = map[string]routing.FailurePolicy{"retry": routing.Retry, "skip": routing.Skip, "fail": routing.Fail}

// leg returns a leg as it is configured, and the profile that it selects by.
func (b *builder) leg(name string, c config.Leg, role routing.Role) (routing.Leg, *routing.Profile, error) {
	profile, err := b.profile(c.Profile, role)
	leg := routing.Leg{Name: name, OnFailure: onFailure[c.OnFailure], Tries: c.Attempts, Selector: profile}
	return leg, profile, err
}

// profile builds a profile for a role: the named one, or the specialist's. The slots of given are filled before it
// selects.
func (b *builder) profile(name string, role routing.Role, given ...routing.AnySlot) (*routing.Profile, error) {
	if name == "" {
		name = b.sp.Profile
	}
	spec := completed(b.cfg, name)
	spec.Role, spec.Given = role, append(spec.Given, given...)
	profile, err := routing.Build(spec, b.registry)
	if err != nil {
		return nil, err
	}
	b.profiles = append(b.profiles, profile)
	return profile, nil
}
