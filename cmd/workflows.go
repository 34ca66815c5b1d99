package cmd

import (
	"fmt"
	"math/rand/v2"
	"time"

	"octet/config"
	"octet/gateway"
	"octet/gateway/ensemble"
	"octet/routing"
	"octet/routing/plugins"
)

// nearPick leaves a prefill leg's best candidate for whoever would be near it.
var nearPick = routing.Pick{Slot: plugins.Near, Put: plugins.Near.Put}

// pattern is how requests of a specialist are executed.
type pattern struct {
	workflow routing.Workflow
	profiles []*routing.Profile       // that it selects by
	protocol func() ensemble.Protocol // nil where one replica does it all
}

// builder builds one specialist's selectors.
type builder struct {
	cfg      *config.Config
	sp       *config.Specialist
	registry routing.Registry
	built    []*routing.Profile
}

// pattern builds what the specialist's workflow asks for.
func (b *builder) pattern() (pattern, error) {
	if b.sp.Workflow == "single" {
		profile, err := b.profile("", routing.RoleBoth)
		if err != nil {
			return pattern{}, err
		}
		return pattern{workflow: routing.Single(profile), profiles: b.built}, nil
	}
	legs, err := b.legs()
	if err != nil {
		return pattern{}, err
	}
	w, err := routing.NewFlow(legs...)
	accept := time.Duration(0)
	if b.synchronous() {
		accept = b.sp.Disaggregation.AcceptTimeout
	}
	return pattern{w, b.built, func() ensemble.Protocol { return &gateway.Handover{Room: rand.Int64, Accept: accept} }},
		err
}

// synchronous reports whether who prefills is picked by its load alone, as power-of-two, device-aware and least-load
// do: then that engine is asked before the one that answers, also where the two could be asked at once.
func (b *builder) synchronous() bool {
	name := b.sp.Disaggregation.Prefill.Profile
	if name == "" {
		name = b.sp.Profile
	}
	spec := profileSpec(b.cfg, name)
	if spec.Pick.Name == "power-of-two" {
		return true
	}
	byLoad := func(s routing.WeightedSpec) bool { return s.Name == "device-aware" || s.Name == "least-load" }
	return spec.Pick.Name == "max-score" && len(spec.Score) == 1 && byLoad(spec.Score[0])
}

// legs are the steps of disaggregated serving, and before them the preprocessor's where there is one.
func (b *builder) legs() (legs []routing.Leg, err error) {
	d := b.sp.Disaggregation
	worth := plugins.LongAndCold{MinPrompt: d.MinPromptTokens, MinUncached: d.MinUncachedTokens, Pick: plugins.Near}
	prefill := routing.Leg{Name: gateway.StepPrefill, Pick: nearPick, Decider: worth}
	decode := routing.Leg{Name: gateway.StepDecode}
	if b.sp.Workflow == "three-step" {
		preprocess := routing.Leg{Name: gateway.StepPreprocess}
		if err := b.fill(&preprocess, d.Preprocess, routing.RolePreprocess); err != nil {
			return nil, err
		}
		legs = append(legs, preprocess)
	}
	if err := b.fill(&prefill, d.Prefill, routing.RolePrefill); err != nil {
		return nil, err
	}
	if decode.Selector, err = b.profile(d.DecodeProfile, routing.RoleDecode, plugins.Near); err != nil {
		return nil, err
	}
	return append(legs, prefill, decode), nil
}

// fill sets what is configured of a leg.
func (b *builder) fill(l *routing.Leg, c config.Leg, role routing.Role) (err error) {
	l.OnFailure = map[string]routing.FailurePolicy{"retry": routing.Retry, "skip": routing.Skip,
		"fail": routing.Fail}[c.OnFailure]
	l.Tries = c.Attempts
	l.Selector, err = b.profile(c.Profile, role)
	return err
}

// profile builds a profile for a role: by name, or the specialist's. The slots of given are filled before it selects.
func (b *builder) profile(name string, role routing.Role, given ...routing.AnySlot) (*routing.Profile, error) {
	if name == "" {
		name = b.sp.Profile
	}
	spec := profileSpec(b.cfg, name)
	spec.Role, spec.Given = role, append(spec.Given, given...)
	profile, err := routing.Build(spec, b.registry)
	if err != nil {
		return nil, fmt.Errorf("%w: specialist %s: %w", errConfig, b.sp.Name, err)
	}
	b.built = append(b.built, profile)
	return profile, nil
}
