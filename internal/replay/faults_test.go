package replay_test

import (
	"errors"
	"testing"
	"time"

	"octet/internal/race"
	"octet/internal/replay"
)

// Without events a prompt is looked for where it was routed: less is known than by events, and more than by load alone.
func TestWithoutEventsRoutedPromptsAreWhatIsKnown(t *testing.T) {
	trace := busy.trace(11)
	c := replay.Default()
	all := run(t, c, trace, preset(t, "default"))
	c.Faults.NoEvents = true
	guessed := run(t, c, trace, preset(t, "default"))
	blind := run(t, c, trace, preset(t, "least-load"))
	t.Logf("hit rates: %.3f by events, %.3f by what was routed, %.3f by load alone", all.HitRate, guessed.HitRate,
		blind.HitRate)
	if guessed.HitRate < blind.HitRate+0.1 || guessed.Predicted == 0 {
		t.Errorf("%.3f, %.3f by load alone", guessed.HitRate, blind.HitRate)
	}
	c.Blocks = 150 // what was routed to a short pool is soon gone, which guesses do not know
	if short := run(t, c, trace, preset(t, "default")); short.Kept > 0.99 || short.Kept == 0 {
		t.Errorf("%.3f of the guesses were right", short.Kept)
	}
}

// What was routed counts until events tell: where they are late, more of what is cached is found by that.
func TestRoutedPromptsCountUntilEventsTell(t *testing.T) {
	race.Skip(t)
	trace := readers(5)
	c := replay.Default()
	c.EventDelay, c.PredictTTL = 5*time.Second, 0
	late := run(t, c, trace, preset(t, "conductor"))
	c.PredictTTL = 10 * time.Second
	guessed := run(t, c, trace, preset(t, "conductor"))
	t.Logf("events 5 s late: hit rate %.3f by events alone, %.3f with what was routed", late.HitRate, guessed.HitRate)
	if guessed.HitRate < late.HitRate+0.02 {
		t.Errorf("hit rate %.3f by events alone, %.3f with what was routed", late.HitRate, guessed.HitRate)
	}
}

// Reports that are late, and replicas that lie, mislead a policy that goes by reports alone, and not one that goes by
// what the gateway counts itself.
func TestWrongMetricsMisleadOnlyPoliciesByMetrics(t *testing.T) {
	race.Skip(t)
	trace := busy.trace(12)
	for name, faults := range map[string]replay.Faults{
		"a second late": {MetricsDelay: time.Second}, "two replicas lie": {Lying: 2},
	} {
		c := replay.Default()
		good := run(t, c, trace, preset(t, "epp-default"))
		counted := run(t, c, trace, preset(t, "conductor"))
		c.Faults = faults
		if bad := run(t, c, trace, preset(t, "epp-default")); bad.TTFT.P90 < 1.1*good.TTFT.P90 {
			t.Errorf("%s: p90 of epp-default is %.2f s, with good metrics %.2f", name, bad.TTFT.P90, good.TTFT.P90)
		}
		if same := run(t, c, trace, preset(t, "conductor")); same.TTFT != counted.TTFT {
			t.Errorf("%s: conductor's are %+v and %+v", name, same.TTFT, counted.TTFT)
		}
	}
}

func TestImpossibleFaultsAreErrors(t *testing.T) {
	trace := of(replay.Request{Input: 5, Output: 1, Blocks: ids(1)})
	for name, faults := range map[string]replay.Faults{
		"early metrics": {MetricsDelay: -1}, "more liars than replicas": {Lying: 9}, "no liars": {Lying: -1},
	} {
		c := replay.Default()
		c.Faults = faults
		for _, by := range []replay.Contender{preset(t, "default"), {Oracle: true}} {
			if _, err := replay.Run(t.Context(), c, trace, by); !errors.Is(err, replay.ErrConfig) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
