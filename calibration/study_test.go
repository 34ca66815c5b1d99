package calibration

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var goal = Goal{Disagreement: 0.2, MinSamples: 30, Resamples: 400, Seed: 1}

// made is a stream in which a second opinion differs with probability 1 - confidence, and is then better two times in
// three.
func made(n int, threshold float64) []Record {
	r := rand.New(rand.NewPCG(7, 7))
	tally := Tally{Intent: "review", Threshold: threshold}
	var all []Record
	for range n {
		p := r.Float64()
		tally.Counts[Bucket(p)]++
		if p >= threshold {
			continue
		}
		e := Example{Intent: "review", Confidence: &p, Threshold: threshold, Cause: ByThreshold,
			Primary: Lane{Specialist: "algo"}, Shadow: Lane{Specialist: "debug", Version: "2"},
			Comparison: Comparison{Class: Agree}}
		if r.Float64() > p {
			if e.Class = ShadowBetter; r.IntN(3) == 0 {
				e.Class = PrimaryBetter
			}
		}
		all = append(all, Record{V: Version, Time: time.Unix(1, 0).UTC(), Example: &e})
	}
	return append(all, Record{V: Version, Time: time.Unix(1, 0).UTC(), Tally: &tally})
}

// addLines adds records to s as the lines of a stream.
func addLines(t *testing.T, s *Study, all []Record) {
	t.Helper()
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		s.Line(line)
	}
}

func studied(t *testing.T, all []Record) IntentReport {
	t.Helper()
	var s Study
	addLines(t, &s, all)
	report, err := s.Report(goal)
	if err != nil || report.Skipped != 0 || len(report.Intents) != 1 {
		t.Fatalf("%v: %+v", err, report)
	}
	return report.Intents[0]
}

// MEGA-15: from the stream alone come what each threshold costs and catches, which to set and how surely, and which
// specialist has earned a promotion.
func TestAStreamIsEnoughToTuneThresholdsAndPromote(t *testing.T) {
	r := studied(t, made(20000, 1))
	if r.Requests != 20000 || r.Comparisons != 20000 || r.Threshold != 1 {
		t.Errorf("%d requests, %d comparisons, threshold %v", r.Requests, r.Comparisons, r.Threshold)
	}
	if got := r.Recommended; got.Threshold == nil || *got.Low > 0.8 || *got.High < 0.8 || *got.High-*got.Low > 0.15 ||
		got.Censored {
		t.Errorf("a fifth differ at 0.8: recommended %v", got)
	}
	if ece := *r.Reliability.ECE; ece > 0.02 || r.Reliability.Basis != "agreement" || len(r.Reliability.Bins) != 10 {
		t.Errorf("confidences that are right have an error of %v", ece)
	}
	for _, c := range r.Thresholds {
		caught := 1 - (1-c.Threshold)*(1-c.Threshold) // of all that differ, by the integral of 1-p
		if math.Abs(*c.Shadowed-c.Threshold) > 0.02 || math.Abs(*c.Caught-caught) > 0.02 || !c.Observed {
			t.Errorf("threshold %v costs %v and catches %v, want %v", c.Threshold, *c.Shadowed, *c.Caught, caught)
		}
	}
	if p := r.Promotions; len(p) != 1 || p[0].Advice != Promote || p[0].Shadow.Version != "2" ||
		p[0].Wins < p[0].Losses {
		t.Errorf("%+v", p)
	}
}

// What was not shadowed was not seen, and the report says so: it recommends nothing beyond.
func TestAReportDoesNotClaimWhatWasNotSeen(t *testing.T) {
	r := studied(t, made(4000, 0.5))
	if got := r.Recommended; !got.Censored || *got.Threshold != 0.5 || !strings.Contains(got.Why, "higher") {
		t.Errorf("%v", got)
	}
	for _, c := range r.Thresholds {
		if c.Observed != (c.Threshold <= 0.5) {
			t.Errorf("%+v", c)
		}
	}
	few := studied(t, made(20, 1))
	if few.Recommended.Threshold != nil || few.Promotions[0].Advice != Wait {
		t.Errorf("of twenty requests: %v, %+v", few.Recommended, few.Promotions)
	}
}

func TestVerdictsOnAnswersCountBeforeSecondOpinions(t *testing.T) {
	sure := 0.9
	all := made(100, 1)
	for i := range 40 {
		all = append(all, Record{V: Version,
			Verdict: &Verdict{Intent: "review", Lane: Lane{Specialist: "algo"}, Confidence: &sure, Kind: "compile",
				Pass: i%2 == 0}})
	}
	r := studied(t, all)
	if rel := r.Reliability; rel.Basis != "verdicts" || rel.Samples != 40 || math.Abs(*rel.ECE-0.4) > 1e-9 {
		t.Errorf("%+v", rel)
	}
	if c := r.Correctness; len(c) != 1 || c[0].Passed != 20 || c[0].Samples != 40 || c[0].Low > 0.36 ||
		c[0].High < 0.64 {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsNoRecordIsCountedAndLeftOut(t *testing.T) {
	var s Study
	for _, line := range []string{"", "{", `{"v":1}`, `{"v":2,"tally":{}}`,
		`{"v":1,"example":{"class":"agree"},"tally":{}}`, `{"v":1,"example":{"class":"maybe"}}`,
		`{"v":1,"example":{"class":"agree","confidence":1.5}}`, `{"v":1,"verdict":{"confidence":-1}}`,
		`{"v":1,"example":{"class":"agree","threshold":2}}`, "\xff\x00"} {
		s.Line([]byte(line))
		if _, err := Parse([]byte(line)); !errors.Is(err, ErrRecord) {
			t.Errorf("%q: %v", line, err)
		}
	}
	r, err := s.Report(goal)
	if err != nil || r.Skipped != 10 || r.Records != 0 || len(r.Intents) != 0 {
		t.Errorf("%v %+v", err, r)
	}
	if _, err := s.Report(Goal{Disagreement: 1, MinSamples: 1, Resamples: 1}); !errors.Is(err, ErrGoal) {
		t.Error(err)
	}
}

// MEGA-18: a report is the same each time, and reading it changes nothing.
func TestAReportIsTheSameEachTime(t *testing.T) {
	first, again := studied(t, made(500, 0.9)), studied(t, made(500, 0.9))
	if !reflect.DeepEqual(first, again) {
		t.Errorf("%+v\n%+v", first, again)
	}
}

func TestAReportReadsAsTextJSONAndPlot(t *testing.T) {
	var s Study
	for _, r := range made(2000, 0.85) {
		s.Add(r)
	}
	report, err := s.Report(goal)
	if err != nil {
		t.Fatal(err)
	}
	var text, plot bytes.Buffer
	if err := errors.Join(report.WriteText(&text), report.WriteSVG(&plot)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"review: 2000 requests", "recommended: 0.", "in force", "not observed",
		"debug (2) as the shadow of algo", "promote"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	for d := xml.NewDecoder(&plot); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
}

// The fit is the best of all that do not rise: no merge of it does better.
func TestTheFitFallsAndIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hits := rapid.SliceOfN(rapid.Bool(), 1, 9).Draw(t, "hits")
		samples := make([]sample, len(hits))
		for i, h := range hits {
			samples[i] = sample{confidence: float64(i), disagrees: h}
		}
		fit := falling(samples)
		last, at, loss := math.Inf(1), 0, 0.0
		for _, b := range fit {
			if b.rate() >= last {
				t.Fatalf("it rises: %+v", fit)
			}
			last = b.rate()
			for ; at < int(b.from)+b.n; at++ {
				loss += squared(hits[at], b.rate())
			}
		}
		if best := bestFalling(hits); math.Abs(loss-best) > 1e-9 {
			t.Fatalf("%v: %v, the best loses %v", fit, loss, best)
		}
	})
}

func squared(hit bool, rate float64) float64 {
	if hit {
		rate = 1 - rate
	}
	return rate * rate
}

// bestFalling tries every way of cutting the hits into runs.
func bestFalling(hits []bool) float64 {
	best := math.Inf(1)
	for cuts := range 1 << (len(hits) - 1) {
		loss, last, from := 0.0, math.Inf(1), 0
		for i := range hits {
			if i < len(hits)-1 && cuts&(1<<i) == 0 {
				continue
			}
			n := 0
			for _, h := range hits[from : i+1] {
				if h {
					n++
				}
			}
			rate := float64(n) / float64(i+1-from)
			if rate > last {
				loss = math.Inf(1)
			}
			last = rate
			for ; from <= i; from++ {
				loss += squared(hits[from], rate)
			}
		}
		best = min(best, loss)
	}
	return best
}

func FuzzParse(f *testing.F) {
	for _, r := range made(3, 1) {
		line, _ := json.Marshal(r)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var s Study
		s.Line(line)
		r, err := s.Report(Goal{Disagreement: 0.2, MinSamples: 1, Resamples: 3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.WriteText(io.Discard), r.WriteSVG(io.Discard)); err != nil {
			t.Fatal(err)
		}
	})
}
