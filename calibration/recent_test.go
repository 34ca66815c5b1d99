package calibration_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"octet/calibration"
)

func opinion(i int) calibration.Record {
	confidence := float64(i%10)/10 + 0.05
	x := &calibration.Example{Receipt: fmt.Sprint(i), Intent: []string{"codegen", "review"}[i%2],
		Primary:    calibration.Lane{Specialist: "debug"},
		Shadow:     calibration.Lane{Specialist: "systems", Version: "2"},
		Confidence: &confidence, Threshold: 0.9, Cause: calibration.ByThreshold}
	if x.Class = calibration.Agree; i%3 == 0 {
		x.Class = calibration.ShadowBetter
	}
	x.Answers.Primary.Text = "what is not to be kept"
	return calibration.Record{V: calibration.Version, Example: x}
}

// Recent reports what a Study of the newest records does, in whatever state its ring is.
func TestRecentReportsTheNewestRecords(t *testing.T) {
	const keep = 64
	goal := calibration.Goal{Disagreement: 0.2, MinSamples: 5, Resamples: 20, Seed: 1}
	recent := calibration.NewRecent(keep)
	var all []calibration.Record
	for i := range 3*keep + 7 {
		all = append(all, opinion(i))
		if i%17 == 0 {
			tally := &calibration.Tally{Intent: "codegen", Threshold: 0.5}
			tally.Counts[i%100] = uint64(i)
			all[i] = calibration.Record{Tally: tally}
		}
		if i%19 == 0 {
			all[i] = calibration.Record{Verdict: &calibration.Verdict{Intent: "review", Pass: i%2 == 0,
				Lane: calibration.Lane{Specialist: "debug"}}}
		}
		recent.Offer(all[i])
		var study calibration.Study
		for _, r := range all[max(0, len(all)-keep):] {
			study.Add(r)
		}
		want, err := study.Report(goal)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // made, and given again
			if got, err := recent.Report(goal); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d: %v\n%+v\n%+v", i+1, err, got, want)
			}
		}
	}
	if _, err := recent.Report(calibration.Goal{Disagreement: 2}); !errors.Is(err, calibration.ErrGoal) {
		t.Error(err)
	}
}
