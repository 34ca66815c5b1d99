package calibration

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// madeOf is a stream of n comparisons of answers of a form, of which a share differs whatever the confidence.
func madeOf(form Form, n int, share float64) (all []Record) {
	r := rand.New(rand.NewPCG(uint64(n), 3))
	for range n {
		p := r.Float64()
		e := Example{Intent: "review", Confidence: &p, Threshold: 1, Cause: ByThreshold,
			Primary: Lane{Specialist: "algo"}, Shadow: Lane{Specialist: "debug"},
			Comparison: Comparison{Class: Agree, Form: form}}
		if r.Float64() < share {
			if e.Class = PrimaryBetter; form == FormCalls {
				e.Class = ShadowCalls
			}
		}
		if form == FormCalls {
			if e.Calls = SameCalls; e.Class == ShadowCalls {
				e.Calls = OneCalls
			}
		}
		all = append(all, Record{V: Version, Time: time.Unix(1, 0).UTC(), Example: &e})
	}
	return all
}

// What tool calls and JSON come to is reported apart, and changes nothing of what is said of texts: answers that mostly
// differ by their calls raise no threshold for texts that agree.
func TestFormsAreLearnedApart(t *testing.T) {
	texts := studied(t, madeOf(FormText, 400, 0.05))
	all := append(madeOf(FormText, 400, 0.05), madeOf(FormCalls, 300, 0.9)...)
	r := studied(t, append(all, madeOf(FormJSON, 200, 0.5)...))
	if !reflect.DeepEqual(r.FormReport, texts.FormReport) || r.Threshold != texts.Threshold {
		t.Errorf("%+v\nof texts alone\n%+v", r.FormReport, texts.FormReport)
	}
	if got := *r.Recommended.Threshold; got > 0.2 {
		t.Errorf("a twentieth of texts differs: recommended %v", got)
	}
	c := r.ToolCalls
	if c == nil || c.Comparisons != 300 || c.Classes[ShadowCalls]+c.Classes[Agree] != 300 ||
		c.Calls[OneCalls] != c.Classes[ShadowCalls] || c.Calls[SameCalls] != c.Classes[Agree] ||
		c.Classes[ShadowCalls] < 250 {
		t.Fatalf("%+v", c)
	}
	if rec := c.Recommended; rec.Threshold == nil || *rec.Threshold < 0.9 || !rec.Censored ||
		c.Reliability.Samples != 300 || c.Reliability.Basis != "agreement" {
		t.Errorf("%+v, %+v", rec, c.Reliability)
	}
	if p := c.Promotions; len(p) != 1 || p[0].Undecided != c.Classes[ShadowCalls] || p[0].Same != c.Classes[Agree] {
		t.Errorf("%+v", p)
	}
	if j := r.JSON; j == nil || j.Comparisons != 200 || j.Calls[OneCalls] != 0 || j.Promotions[0].Losses < 60 {
		t.Errorf("%+v", j)
	}
	if texts.ToolCalls != nil || texts.JSON != nil {
		t.Error("a report of forms that did not come")
	}
	only := studied(t, madeOf(FormCalls, 40, 0))
	if only.Comparisons != 0 || only.ToolCalls.Comparisons != 40 || only.Recommended.Threshold != nil {
		t.Errorf("of calls alone: %+v", only)
	}
}

// Verdicts are about answers of every form; agreement is of one form.
func TestVerdictsAreOfEveryForm(t *testing.T) {
	sure := 0.9
	all := madeOf(FormCalls, 40, 0.5)
	for range 20 {
		all = append(all, Record{V: Version, Verdict: &Verdict{Intent: "review", Confidence: &sure, Pass: true}})
	}
	r := studied(t, all)
	if r.Reliability.Basis != "verdicts" || r.Reliability.Samples != 20 || r.ToolCalls.Reliability.Samples != 40 ||
		r.ToolCalls.Reliability.Basis != "agreement" {
		t.Errorf("%+v, %+v", r.Reliability, r.ToolCalls.Reliability)
	}
}

func TestFormsReadAsTextJSONAndPlot(t *testing.T) {
	var s Study
	for _, r := range append(madeOf(FormCalls, 100, 0.5), madeOf(FormJSON, 50, 0.5)...) {
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
	for _, want := range []string{"review, answers of which one or both call tools: 100 comparisons",
		"review, answers that are JSON: 50 comparisons", "shadow_calls ", "tool calls: one "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if n := strings.Count(plot.String(), "disagreements caught"); n != 3 {
		t.Errorf("%d plots", n)
	}
	for d := xml.NewDecoder(&plot); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	var back Report
	line, err := json.Marshal(report)
	if err != nil || json.Unmarshal(line, &back) != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, line) {
		t.Errorf("%v:\n%s\nread and written again\n%s", err, line, again)
	}
}

// Records that were written before there were forms are of texts, and those of today read as they were written.
func TestRecordsOfBeforeAreRead(t *testing.T) {
	const before = `{"v":1,"time":"2026-11-01T00:00:00Z","example":{"receipt":"r","intent":"review",` +
		`"routed_by":"classifier","primary":{"specialist":"algo"},"shadow":{"specialist":"debug"},"confidence":0.5,` +
		`"threshold":0.85,"cause":"threshold","prompt":{"hash":"h","bytes":3},"answers":{"primary":{"hash":"a",` +
		`"bytes":1,"finish":"stop"},"shadow":{"hash":"b","bytes":1,"finish":"stop"}},"class":"shadow_stricter",` +
		`"method":"verdict","distance":1}}`
	r, err := Parse([]byte(before))
	if err != nil || r.Example.Form != FormText || r.Example.Calls != "" || r.Example.Answers.Primary.Calls != nil {
		t.Fatalf("%v: %+v", err, r.Example)
	}
	if again, err := json.Marshal(r); err != nil || string(again) != before {
		t.Errorf("%v: written again it is\n%s", err, again)
	}
	e := r.Example
	e.Comparison = Comparison{Class: PrimaryCalls, Method: ByCalls, Distance: 1, Form: FormCalls, Calls: OneCalls}
	e.Answers.Primary.Calls = []CallText{{Hash: "c", Bytes: 6, Name: "read", Arguments: "{}"}}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Parse(line); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%v: %s", err, line)
	}
	for _, unknown := range []string{`"form":"verse"`, `"calls":"some"`} {
		line := strings.Replace(before, `"distance":1`, `"distance":1,`+unknown, 1)
		if _, err := Parse([]byte(line)); !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v", unknown, err)
		}
	}
}
