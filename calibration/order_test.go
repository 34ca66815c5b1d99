package calibration

import (
	"encoding/xml"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// compared is the record of a comparison of a receipt at a second.
func compared(second int, threshold, confidence float64, class Class) Record {
	return Record{V: Version, Time: time.Unix(int64(second), 0).UTC(), Example: &Example{
		Receipt: fmt.Sprintf("r%d", second), Intent: "review", Confidence: &confidence, Threshold: threshold,
		Cause: ByThreshold, Primary: Lane{Specialist: "algo"}, Shadow: Lane{Specialist: "debug"},
		Comparison: Comparison{Class: class}}}
}

// Files that a gateway has turned over are named newest first (shadow.jsonl, shadow.jsonl.1): the threshold in force is
// that of the last time, whatever is read last, and the order changes nothing else.
func TestTheOrderOfRecordsChangesNothing(t *testing.T) {
	var all []Record
	for i := range 90 {
		confidence, class := float64(i%6)/10, Agree
		if i%5 < 3-i%6/2 {
			class = Differ
		}
		all = append(all, compared(i, 0.3+float64(i)/200, confidence, class))
	}
	all = append(all, Record{V: Version, Time: time.Unix(90, 0).UTC(), Tally: &Tally{Intent: "review", Threshold: 0.5}})
	forwards := studied(t, all)
	slices.Reverse(all)
	backwards := studied(t, all)
	if forwards.Threshold != 0.5 || !reflect.DeepEqual(forwards, backwards) {
		t.Errorf("forwards %v, %v\nbackwards %v, %v", forwards.Threshold, forwards.Recommended, backwards.Threshold,
			backwards.Recommended)
	}
}

// A file and its copy, or the file and the stream of one gateway, have the same records: each is evidence once.
func TestARecordIsEvidenceOnce(t *testing.T) {
	sure := 0.9
	all := []Record{compared(1, 0.85, 0.5, ShadowBetter), compared(2, 0.85, 0.5, ShadowBetter),
		{V: Version, Time: time.Unix(3, 0).UTC(), Tally: &Tally{Intent: "review", Threshold: 0.85,
			Counts: [Buckets]uint64{50: 2}}},
		{V: Version, Time: time.Unix(4, 0).UTC(), Verdict: &Verdict{Receipt: "r2", Intent: "review", Confidence: &sure,
			Lane: Lane{Specialist: "algo"}, Kind: "compile", Pass: true}},
		{V: Version, Time: time.Unix(4, 0).UTC(), Verdict: &Verdict{Receipt: "r2", Intent: "review", Confidence: &sure,
			Lane: Lane{Specialist: "algo"}, Kind: "tests", Pass: true}}}
	var s Study
	for range 3 {
		addLines(t, &s, all)
	}
	report, err := s.Report(goal)
	if err != nil {
		t.Fatal(err)
	}
	once := studied(t, all)
	if !reflect.DeepEqual(report.Intents, []IntentReport{once}) || report.Records != 5 || report.Repeated != 10 {
		t.Errorf("%+v\nwant %+v", report, once)
	}
	if once.Requests != 2 || once.Comparisons != 2 || once.Correctness[0].Samples != 2 {
		t.Errorf("%+v", once)
	}
	var text strings.Builder
	if err := report.WriteText(&text); err != nil || !strings.Contains(text.String(), "10 left out") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// A recommendation claims what is seen: that all differ only where they do, and no threshold beyond 1.
func TestARecommendationClaimsWhatIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		threshold float64
		classes   map[float64][2]int // by confidence: how many differ, and how many agree
		none      bool
		why       string
	}{
		"all differ":                 {0.9, map[float64][2]int{0.2: {20, 0}, 0.8: {20, 0}}, false, "try a higher"},
		"all differ, all are seen":   {1, map[float64][2]int{0.2: {20, 0}, 0.8: {20, 0}}, false, "however sure"},
		"the sure agree, too few":    {0.9, map[float64][2]int{0.2: {15, 0}, 0.8: {0, 25}}, true, "of 25"},
		"the sure agree":             {0.9, map[float64][2]int{0.2: {15, 0}, 0.8: {0, 30}}, false, "from 0.800 on"},
		"two agree above all others": {0.9, map[float64][2]int{0.2: {40, 0}, 0.8: {0, 2}}, false, "try a higher"},
	} {
		var all []Record
		for _, confidence := range []float64{0.2, 0.8} {
			for i, class := range []Class{Differ, Agree} {
				for range c.classes[confidence][i] {
					all = append(all, compared(len(all), c.threshold, confidence, class))
				}
			}
		}
		got := studied(t, all).Recommended
		if !strings.Contains(got.Why, c.why) || (got.Threshold == nil) != c.none {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestATallysThresholdIsAShare(t *testing.T) {
	for _, threshold := range []string{"-0.1", "1.5", "1e300"} {
		line := fmt.Sprintf(`{"v":1,"time":"2026-11-28T12:00:00Z","tally":{"intent":"x","threshold":%s}}`, threshold)
		if _, err := Parse([]byte(line)); err == nil {
			t.Errorf("%s is a threshold", threshold)
		}
	}
}

// A stream may hold what other programs wrote: nothing of it is obeyed by a terminal, or breaks the plot.
func TestNamesOfRecordsAreHarmless(t *testing.T) {
	r := compared(1, 0.85, 0.5, Agree)
	r.Example.Intent, r.Example.Shadow = "\x1b[2Jreview\n<svg>", Lane{Specialist: "a\x1b]0;b", Version: "\x00\t2"}
	var s Study
	s.Add(r)
	report, err := s.Report(goal)
	if err != nil {
		t.Fatal(err)
	}
	var text, plot strings.Builder
	if err := errors.Join(report.WriteText(&text), report.WriteSVG(&plot)); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\x00\t") ||
		!strings.Contains(text.String(), "?[2Jreview?<svg>: 0 requests") {
		t.Errorf("%q", text.String())
	}
	if err := xml.Unmarshal([]byte(plot.String()), new(struct{})); err != nil {
		t.Errorf("%v: %.200s", err, plot.String())
	}
}
