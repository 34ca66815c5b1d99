package classifier

import (
	"math"
	"testing"
)

// A conversation moves when what is gained exceeds what it costs, and never against what was declared.
func TestAConversationStaysUnlessTheGainExceedsTheCost(t *testing.T) {
	c, err := New(Config{Specialists: []string{"a", "b", "c"}, Fallback: "c", Viable: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	by := func(r RoutedBy, confidence float64, p ...float64) Verdict {
		return Verdict{Specialist: "a", RoutedBy: r, Confidence: confidence, Probabilities: p, Shadow: "c"}
	}
	for name, row := range map[string]struct {
		v      Verdict
		held   string
		cost   float64
		stays  bool
		viable bool
	}{
		"a small gain": {v: by(ByClassifier, 0.45, 0.45, 0.40, 0.15), held: "b", cost: 0.1, stays: true,
			viable: true},
		"a large gain": {v: by(ByClassifier, 0.45, 0.45, 0.20, 0.35), held: "b", cost: 0.1},
		"a large gain, a dear cache": {v: by(ByClassifier, 0.45, 0.45, 0.20, 0.35), held: "b", cost: 0.3, stays: true,
			viable: true},
		"it is there already":         {v: by(ByClassifier, 0.45, 0.45, 0.40, 0.15), held: "a", cost: 0.1},
		"who held it is gone":         {v: by(ByClassifier, 0.45, 0.45, 0.40, 0.15), held: "z", cost: 0.1},
		"a declared model":            {v: by(ByModel, math.NaN()), held: "b", cost: 1},
		"a declared intent":           {v: by(ByIntent, math.NaN()), held: "b", cost: 1},
		"a precise detector":          {v: by(ByDetector, 0.97), held: "b", cost: 0.5},
		"nobody could say":            {v: by(ByFallback, math.NaN()), held: "b", cost: 0, stays: true},
		"the fallback of a rejection": {v: by(ByFallback, 0.1, 0.1, 0.05, 0.05), held: "b", cost: 0.2, stays: true},
	} {
		got, stays := c.Stay(row.v, row.held, row.cost)
		if stays != row.stays {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if stays && (got.Specialist != row.held || got.Second != "a" || got.SecondViable != row.viable ||
			got.Shadow != "" || got.RoutedBy != row.v.RoutedBy) {
			t.Errorf("%s: %+v", name, got)
		}
		if !stays && got.Specialist != "a" {
			t.Errorf("%s: moved to %+v", name, got)
		}
	}
}

// MEGA-68: no way to another specialist drops the adapter.
func TestAVerdictForAnotherSpecialistKeepsTheAdapter(t *testing.T) {
	v := Verdict{Specialist: "debug", Adapter: "gdb", Confidence: 0.1, Second: "stl", SecondViable: true}
	diverted, ok := v.Divert(0.5)
	second, viable := v.SecondChoice()
	if !ok || !viable || diverted.Adapter != "gdb" || second.Adapter != "gdb" || v.InPlace("stl").Adapter != "gdb" {
		t.Errorf("%+v, %+v, %+v", diverted, second, v.InPlace("stl"))
	}
}
