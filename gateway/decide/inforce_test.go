package decide

import (
	"testing"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/slo"
)

// A decision rests on one reading of an intent's thresholds: what an operator changes meanwhile is the next one's. Else
// the receipt would tell of a threshold by which the shadow was not decided on.
func TestADecisionReadsItsThresholdsOnce(t *testing.T) {
	set, err := slo.NewKnobs(time.Now, slo.IntentKnobs("review", 0.3, 0.2)...)
	if err != nil {
		t.Fatal(err)
	}
	rt, d := new(ensemble.Runtime), new(Decision)
	d.knobs = &ensemble.Knobs{Shadow: set.Dial(slo.ShadowThreshold + "review"),
		Divert: set.Dial(slo.DivertThreshold + "review"), Floor: set.Dial(slo.PriorityFloor + "review")}
	d.inForce(rt)
	for _, name := range []string{slo.ShadowThreshold + "review", slo.DivertThreshold + "review"} {
		if err := set.Set(name, slo.Override{Value: 0.9}); err != nil {
			t.Fatal(err)
		}
	}
	d.Confidence, d.SecondViable, d.Second, d.Specialist = 0.5, true, "systems", "debug"
	new(Decider).divert(rt, new(intake.Request), d)
	if d.ShadowThreshold != 0.3 || d.DivertThreshold != 0.2 || d.Specialist != "debug" {
		t.Errorf("shadow %v, divert %v, answered by %s", d.ShadowThreshold, d.DivertThreshold, d.Specialist)
	}
}
