package gateway

import (
	"errors"
	"math"
	"testing"
	"time"

	"octet/classifier"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/metrics"
	"octet/gateway/tenant"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/slo"
)

// lanes is a server of three specialists, c stands in for b and b for a, with the knobs of one intent.
func lanes(t *testing.T) (*Server, *ensemble.Runtime) {
	t.Helper()
	rt := &ensemble.Runtime{Intents: []string{"codegen"}}
	all := slo.IntentKnobs("codegen", 0.3, 0.6)
	members := fleet.New()
	for i, name := range []string{"a", "b", "c"} {
		member, err := members.Put(fleet.Spec{Name: name + "-0", Specialist: name, URL: "http://10.1.2.3:1",
			Role: fleet.RoleBoth, BlockSize: 16, Host: index.HostID(i)})
		if err != nil {
			t.Fatal(err)
		}
		rt.Replicas[member.Spec().Host] = &ensemble.Replica{Name: member.Spec().Name, Fleet: member}
		board := slo.NewBoard(slo.Config{Correctness: slo.CorrectnessConfig{Floor: 0.9, MinSamples: 5}})
		rt.Specialists = append(rt.Specialists,
			&ensemble.Specialist{Name: name, Board: board, Load: slo.NewEscalation(slo.EscalationConfig{})})
		all = append(all, slo.SpecialistKnobs(name)...)
	}
	rt.Specialists[0].Fallback, rt.Specialists[1].Fallback, rt.Specialists[2].Fallback = "b", "c", "a"
	knobs, err := slo.NewKnobs(nil, all...)
	if err != nil {
		t.Fatal(err)
	}
	rt.Connect(knobs, metrics.New("", "", ""))
	s := &Server{knobs: knobs, now: time.Now}
	s.decider.Clock = s
	return s, rt.Seal()
}

func demoted(rt *ensemble.Runtime, names ...string) {
	for _, name := range names {
		for range 5 {
			rt.Specialist(name).Board.Outcome(slo.Verdict{Answered: time.Now()})
		}
	}
}

// relieved has a verdict for a, with b as its viable second choice, go through step 3.
func relieved(s *Server, rt *ensemble.Runtime, confidence float64, priority int, allowed ...string) (*exchange, error) {
	x := &exchange{s: s, rt: rt,
		request: intake.Request{Tenant: &tenant.Tenant{Specialists: allowed},
			Body: new(intake.Body)}}
	x.request.Parsed.Reset() // a body that all engines take
	x.request.Intent.Priority = priority
	x.decision.Verdict = classifier.Verdict{
		Specialist: "a", Intent: "codegen", RoutedBy: classifier.ByClassifier, Confidence: confidence, Second: "b",
		SecondViable: !math.IsNaN(confidence),
	}
	x.decision.DivertThreshold, _ = s.knobs.Value(slo.DivertThreshold + "codegen") // as Route reads it
	noteDecision(&x.receipt, &x.decision, rt)
	return x, x.relieve()
}

// MEGA-60: the first of the fallbacks that may answer does; a circle of demoted ones ends in breaker_open.
func TestTheFirstFallbackThatMayAnswerStandsIn(t *testing.T) {
	for name, test := range map[string]struct {
		demoted []string
		allowed []string
		want    string // "" is breaker_open
	}{
		"nobody demoted": {nil, nil, "a"}, "one": {[]string{"a"}, nil, "b"}, "two": {[]string{"a", "b"}, nil, "c"},
		"all":     {[]string{"a", "b", "c"}, nil, ""},
		"another": {[]string{"b"}, nil, "a"}, "not the tenant's": {[]string{"a"}, []string{"a", "c"}, "c"},
		"none the tenant's": {[]string{"a"}, []string{"a"}, ""},
	} {
		s, rt := lanes(t)
		demoted(rt, test.demoted...)
		x, err := relieved(s, rt, 0.9, 0, test.allowed...)
		var refused *apierr.Error
		switch {
		case test.want == "" && (!errors.As(err, &refused) || refused.Code != apierr.BreakerOpen ||
			refused.Status() != 503):
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err != nil || x.decision.Specialist != test.want ||
			x.receipt.Decision().Specialist != test.want):
			t.Errorf("%s: %s answers, %v", name, x.decision.Specialist, err)
		case test.want != "" && test.want != "a" &&
			(x.decision.Demoted != "a" || x.decision.RoutedBy != classifier.ByFallback):
			t.Errorf("%s: %+v", name, x.decision)
		}
	}
}

// MEGA-63: under load, and only then, the second choice takes what the router was unsure about, unless it is demoted,
// under load itself, or not the tenant's.
func TestLoadDivertsWhatWasUnsure(t *testing.T) {
	unsure, sure := 0.5, 0.7
	for name, test := range map[string]struct {
		confidence float64
		set        func(s *Server, rt *ensemble.Runtime)
		want       string
	}{
		"no load":          {unsure, func(*Server, *ensemble.Runtime) {}, "a"},
		"unsure":           {unsure, func(s *Server, _ *ensemble.Runtime) { step(s, "a", 1) }, "b"},
		"sure":             {sure, func(s *Server, _ *ensemble.Runtime) { step(s, "a", 1) }, "a"},
		"no probability":   {math.NaN(), func(s *Server, _ *ensemble.Runtime) { step(s, "a", 1) }, "a"},
		"both under load":  {unsure, func(s *Server, _ *ensemble.Runtime) { step(s, "a", 1); step(s, "b", 1) }, "a"},
		"the other's load": {unsure, func(s *Server, _ *ensemble.Runtime) { step(s, "b", 2) }, "a"},
		"second demoted":   {unsure, func(s *Server, rt *ensemble.Runtime) { step(s, "a", 1); demoted(rt, "b") }, "a"},
		"second asleep": {unsure, func(s *Server, rt *ensemble.Runtime) {
			step(s, "a", 1)
			rt.Replica("b-0").Fleet.Says(fleet.Asleep)
		}, "a"},
		"operator's no": {unsure, func(s *Server, _ *ensemble.Runtime) {
			step(s, "a", 1)
			_ = s.knobs.Set("divert_threshold.codegen", slo.Override{Value: 0})
		}, "a"},
	} {
		s, rt := lanes(t)
		test.set(s, rt)
		x, err := relieved(s, rt, test.confidence, 0)
		if err != nil || x.decision.Specialist != test.want ||
			(test.want == "b") != (x.decision.RoutedBy == classifier.ByDivert) {
			t.Errorf("%s: %s answers, routed by %v, %v", name, x.decision.Specialist, x.decision.RoutedBy, err)
		}
	}
}

func step(s *Server, name string, to float64) {
	s.knobs.Adjust(slo.LoadStep+name, slo.Override{Value: to, By: "escalation"})
}

// MEGA-64, MEGA-65: the floor of step 2 binds where no operator has set the intent's; who may come back is told when.
func TestTheHigherFloorBindsUnlessAnOperatorSaysOtherwise(t *testing.T) {
	for name, test := range map[string]struct {
		step, floor  float64
		operator     *slo.Override
		priority     int
		served, wait bool
	}{
		"normal":            {0, 5, nil, -100, true, false},
		"diverting":         {1, 5, nil, -100, true, false},
		"below":             {2, 5, nil, 4, false, true},
		"at":                {2, 5, nil, 5, true, false},
		"operator's lower":  {2, 5, &slo.Override{Value: -100}, -50, true, false},
		"operator's higher": {2, 5, &slo.Override{Value: 9}, 7, false, false},
	} {
		s, rt := lanes(t)
		step(s, "a", test.step)
		s.knobs.Adjust(slo.LoadFloor+"a", slo.Override{Value: test.floor})
		if test.operator != nil {
			if err := s.knobs.Set("priority_floor.codegen", *test.operator); err != nil {
				t.Fatal(err)
			}
		}
		_, err := relieved(s, rt, 0.9, test.priority)
		var refused *apierr.Error
		if errors.As(err, &refused); (err == nil) != test.served || err != nil &&
			(refused.Code != apierr.PriorityFloor || (refused.RetryAfter > 0) != test.wait) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// MEGA-63: what is under load gets no shadows but the probes of a demoted one.
func TestASpecialistUnderLoadGetsProbesAlone(t *testing.T) {
	s, rt := lanes(t)
	a := rt.Specialist("a")
	if !a.AllowsShadow(false) {
		t.Error("no shadow without load")
	}
	if step(s, "a", 1); a.AllowsShadow(false) || !a.AllowsShadow(true) {
		t.Error("under load: a shadow, or no probe")
	}
	demoted(rt, "b")
	rt.Specialist("a").Fallback = ""
	x := &exchange{s: s, rt: rt,
		request: intake.Request{Tenant: &tenant.Tenant{}, Body: new(intake.Body)}}
	x.request.Parsed.Reset() // a body that all engines take
	x.decision.Verdict = classifier.Verdict{Specialist: "b", Intent: "codegen"}
	if err := x.relieve(); err != nil || x.decision.Probe != "b" || x.decision.Shadow != "b" ||
		x.decision.Specialist != "c" {
		t.Errorf("probe %q, %s answers, %v", x.decision.Probe, x.decision.Specialist, err)
	}
}
