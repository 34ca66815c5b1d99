package train

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"octet/classifier/model"
)

// ten answers whose figures are worked out by hand.
func ten() []answer {
	return []answer{
		{label: 0, tier: "E", probabilities: []float64{0.9, 0.05, 0.05}},
		{label: 0, tier: "E", probabilities: []float64{0.8, 0.1, 0.1}},
		{label: 0, tier: "-", probabilities: []float64{0.2, 0.7, 0.1}},
		{label: 0, tier: "-", probabilities: []float64{0.3, 0.3, 0.4}},
		{label: 1, tier: "E", probabilities: []float64{0.1, 0.85, 0.05}},
		{label: 1, tier: "-", probabilities: []float64{0.6, 0.3, 0.1}},
		{label: 1, tier: "-", probabilities: []float64{0.05, 0.9, 0.05}},
		{label: 2, tier: "E", probabilities: []float64{0.1, 0.1, 0.8}},
		{label: 2, tier: "-", probabilities: []float64{0.25, 0.3, 0.45}},
		{label: 2, tier: "-", probabilities: []float64{0.5, 0.3, 0.2}},
	}
}

func TestTheReportIsWhatIsWorkedOutByHand(t *testing.T) {
	r := report(ten(), []string{"A", "B", model.Reject})
	// A: right 2, said 4, true 4; B: right 2, said 3, true 3; reject: right 2, said 3, true 3.
	for name, row := range map[string][2]float64{
		"top-1": {r.Top1, 0.6}, "top-2": {r.Top2, 0.9}, "macro-F1": {r.MacroF1, (0.5 + 2.0/3 + 2.0/3) / 3},
		"reject recall":    {r.Reject.Recall, 2.0 / 3},
		"reject precision": {r.Reject.Precision, 2.0 / 3}, "A's F1": {r.PerClass["A"].F1, 0.5},
		"coverage": {r.CoverageAt, 0.5}, "E's top-1": {r.Tiers["E"].Top1, 1},
		"E's coverage": {r.Tiers["E"].CoverageAt, 1}, "the rest's top-1": {r.Tiers["-"].Top1, 2.0 / 6},
		"misread": {float64(r.Misread["A>B"]), 1},
		// Bins of a fifteenth: 0.4 and 0.45 (6), 0.5 (7), 0.6 (9), 0.7 (10), 0.8 twice and 0.85 (12), 0.9 twice (13).
		"ECE": {r.ECE, (math.Abs(0.85-1) + 0.5 + 0.6 + 0.7 + math.Abs(2.45-3) + math.Abs(1.8-2)) / 10},
	} {
		if math.Abs(row[0]-row[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, row[0], row[1])
		}
	}
	if r.Samples != 10 || r.PerClass["B"].Samples != 3 || r.Tiers["E"].Samples != 4 {
		t.Errorf("%+v", r)
	}
}

func TestCalibrationMakesAnswersTrue(t *testing.T) {
	var answers []answer
	for i := range 1000 { // one label in twenty is wrong: sure of 0.99, right 0.95; sure of 0.6, right 0.59
		answers = append(answers, answer{label: i % 20 / 19, probabilities: []float64{0.99, 0.005, 0.005}},
			answer{label: i % 100 / 59, probabilities: []float64{0.6, 0.3, 0.1}})
	}
	heat, doubt := truest(answers, 2, 0)
	for i, want := range []float64{0.95, 0.59} {
		p, _ := answers[i].top(heat, 2, 0)
		if p = p*(1-doubt) + doubt/3; math.Abs(p-want) > 0.015 {
			t.Errorf("temperature %v, doubt %v: sure of %v, right %v", heat, doubt, p, want)
		}
	}
	if p, right := (&answer{label: 2, probabilities: []float64{0.4, 0.1, 0.35}}).top(1, 2, 0.5); !right ||
		math.Abs(p-0.35*math.Exp(0.5)/(0.5+0.35*math.Exp(0.5))) > 1e-9 {
		t.Errorf("reject moved to the top: %v, %v", p, right)
	}
}

// Reject is raised where dev has more of it than was learnt, and no further than it may.
func TestCalibrationMovesRejectAsFarAsItMay(t *testing.T) {
	var answers []answer
	for i := range 1000 { // reject has a third of the probability, and is two thirds of the texts
		answers = append(answers, answer{label: min(i%3, 1) * 2, probabilities: []float64{0.5, 0.17, 0.33}})
	}
	for label, want := range []float64{0.5, 0.17, 0.33 * math.Exp(0.4)} { // by definition: sums, moved and divided
		total := math.Sqrt(0.5) + math.Sqrt(0.17) + math.Sqrt(0.33*math.Exp(0.4))
		a := answer{label: label, probabilities: answers[0].probabilities}
		if got := a.heated(2, 2, 0.4); math.Abs(got+math.Log(math.Sqrt(want)/total)) > 1e-9 {
			t.Errorf("label %d: loss %v", label, got)
		}
	}
	lossAt := func(shift float64) float64 { return leastLoss(answers, 2, shift) }
	if !(lossAt(maxShift) < lossAt(0) && lossAt(0) < lossAt(-maxShift)) {
		t.Fatalf("losses %v, %v, %v", lossAt(maxShift), lossAt(0), lossAt(-maxShift))
	}
}

func TestTheDiagramIsWellFormed(t *testing.T) {
	svg := report(ten(), []string{"A", "B", model.Reject}).Diagram()
	d, bars := xml.NewDecoder(bytes.NewReader(svg)), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			bars++
		}
	}
	if bars != 1+6 {
		t.Errorf("%d rectangles", bars)
	}
	if empty := (&Report{}).Diagram(); !bytes.Contains(empty, []byte("</svg>")) {
		t.Error("no answers are a diagram too")
	}
}

func TestLabelledTextsAreReadZippedOrNot(t *testing.T) {
	plain :=
		"{\"text\":\"a\",\"label\":\"X\",\"source\":\"s\",\"tier\":\"E\",\"more\":1}\n\n{\"text\":\"b\"," +
			"\"label\":\"Y\"}\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(plain))
	_ = z.Close()
	for name, from := range map[string]io.Reader{"plain": strings.NewReader(plain),
		"zipped": bytes.NewReader(zipped.Bytes())} {
		samples, err := Parse(from)
		if err != nil || len(samples) != 2 || samples[0] != (Sample{"a", "X", "s", "E"}) ||
			samples[1].Source != "line 3" {
			t.Errorf("%s: %+v, %v", name, samples, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{\"text\":\n", "no label": `{"text":"a"}`,
		"a number for a text": `{"text":1,"label":"X"}`, "a long line": strings.Repeat("x", maxLine+1),
		"cut gzip": zipped.String()[:zipped.Len()/2], "gzip in name": "\x1f\x8bxx",
	} {
		if _, err := Parse(strings.NewReader(text)); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(t.TempDir() + "/none"); !errors.Is(err, ErrData) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"text":"a","label":"X"}`))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		samples, err := Parse(bytes.NewReader(raw))
		if (err == nil) != (len(samples) > 0) || err != nil && !errors.Is(err, ErrData) {
			t.Fatal(fmt.Sprint(len(samples), " samples, ", err))
		}
	})
}

// Of answers that are as sure a threshold decides all or none: what is covered does not go by the order of the texts.
func TestAnswersThatAreAsSureAreCoveredTogether(t *testing.T) {
	answersOf := func(sure ...float64) (all []answer) { // right where it is above 0
		for _, p := range sure {
			a := answer{probabilities: []float64{math.Abs(p), 1 - math.Abs(p)}}
			if p < 0 {
				a.label = 1
			}
			all = append(all, a)
		}
		return all
	}
	for name, c := range map[string]struct {
		sure []float64
		want float64
	}{
		"one is wrong":           {[]float64{0.9, 0.9, 0.9, -0.9}, 0},
		"behind some surer":      {[]float64{0.95, 0.95, 0.9, -0.9}, 0.5},
		"enough of them is":      {append(slices.Repeat([]float64{0.9}, 19), -0.9), 1},
		"all are":                {[]float64{0.9, 0.9}, 1},
		"the less sure is wrong": {[]float64{0.9, 0.9, -0.8}, 2.0 / 3},
	} {
		all := answersOf(c.sure...)
		for range 2 {
			if _, covered := coverage(all, 0.95); covered != c.want {
				t.Errorf("%s: %v, want %v", name, covered, c.want)
			}
			slices.Reverse(all)
		}
	}
}
