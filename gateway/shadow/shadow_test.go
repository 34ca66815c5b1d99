package shadow

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"octet/calibration"
	"octet/classifier"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/slo"
)

// taken keeps the records that it is offered.
type taken struct{ records []calibration.Record }

func (s *taken) Offer(r calibration.Record) bool {
	s.records = append(s.records, r)
	return true
}

// scene is a specialist with one answer, whose receipt is kept.
func scene(t *testing.T) (*ensemble.Runtime, *receipt.Rings, *Verdicts, *taken) {
	t.Helper()
	knobs, err := slo.NewKnobs(nil)
	if err != nil {
		t.Fatal(err)
	}
	rt := &ensemble.Runtime{Specialists: []*ensemble.Specialist{{Name: "debug", Version: "2",
		Board: slo.NewBoard(slo.Config{})}}}
	rt.Seal().Connect(knobs, metrics.New("", "", ""))
	rings, to := receipt.NewRings(4), new(taken)
	d := new(receipt.Draft)
	d.Begin("r")
	d.Open("q", "chat", time.Now(), receipt.Asked{})
	d.Decide(&classifier.Verdict{Specialist: "debug", Intent: "codegen"}, "", "", nil)
	d.Lane("1", false) // of now it is 2
	d.End(receipt.Result{Status: http.StatusOK, Specialist: "debug"})
	rings.Of("acme").Put(d.Receipt())
	return rt, rings, &Verdicts{Probation: slo.NewProbation(true), Records: NewRecords(to, time.Now),
		Log: slog.New(slog.DiscardHandler)}, to
}

// All verdicts on one answer are one sample, which passes when all of them pass; each is in the stream.
func TestAnAnswerIsOneSample(t *testing.T) {
	rt, rings, v, to := scene(t)
	samples := func() (n int, rate float64) {
		c := rt.Specialists[0].Board.Report().Correctness
		if c.Rate != nil {
			rate = *c.Rate
		}
		return c.Samples, rate
	}
	say := func(kind string, pass bool) bool {
		r, ok := rings.Find("acme", "r")
		if !ok {
			t.Fatal("no receipt")
		}
		return v.OnAnswer(rt, r, receipt.Outcome{Kind: kind, Pass: pass, Time: time.Now(), By: "acme"})
	}
	for i, step := range []struct {
		kind          string
		pass, counted bool
	}{{"compile", true, true}, {"compile", false, false}, {"tests", true, true}, {"review", false, true}} {
		if counted := say(step.kind, step.pass); counted != step.counted {
			t.Errorf("%d: counted %v", i, counted)
		}
		if n, _ := samples(); n != 1 {
			t.Errorf("%d: %d samples", i, n)
		}
	}
	if len(to.records) != 3 || to.records[2].Verdict.Kind != "review" || to.records[2].Verdict.Lane.Version != "1" ||
		to.records[2].Verdict.Intent != "codegen" {
		t.Errorf("%+v", to.records)
	}
	r, _ := rings.Find("acme", "r")
	if r.Result.Status = http.StatusBadGateway; v.OnAnswer(rt, r, receipt.Outcome{Kind: "late", Pass: true}) {
		t.Error("a verdict on a request without an answer counted")
	}
}

// An adapter that was replaced before it had passed leaves no evidence for or against its specialist, though verdicts
// on it come after that; one that was not on probation does, as before.
func TestAReplacedAdaptersVerdictsAreItsOwn(t *testing.T) {
	for _, onTrial := range []bool{true, false} {
		rt, rings, v, _ := scene(t)
		lane := slo.Entrant{Specialist: "debug", Adapter: "gdb"}
		v.Probation.Declare(time.Now(), slo.Term{Entrant: lane, Version: "1", Need: 4})
		d := new(receipt.Draft)
		d.Begin("s")
		d.Open("s", "chat", time.Now(), receipt.Asked{})
		d.Decide(&classifier.Verdict{Specialist: "debug", Adapter: "gdb"}, "", "", nil)
		d.Lane("1", onTrial)
		d.End(receipt.Result{Status: http.StatusOK, Specialist: "debug"})
		rings.Of("acme").Put(d.Receipt())
		v.Probation.Declare(time.Now(), slo.Term{Entrant: lane, Version: "2", Need: 4})
		r, _ := rings.Find("acme", "s")
		if !v.OnAnswer(rt, r, receipt.Outcome{Kind: "compile", Pass: false, By: "acme"}) {
			t.Error("it is not recorded")
		}
		n := rt.Specialists[0].Board.Report().Correctness.Samples
		if judged := v.Probation.Standings()[0].Judged; n == 1 == onTrial || judged != 0 {
			t.Errorf("on trial %v: %d samples of the specialist, %d of the next version", onTrial, n, judged)
		}
	}
}

// verifying is a Verifier that judges at once.
type verifying struct{ pass bool }

func (verifying) Wants() bool    { return true }
func (verifying) Largest() int64 { return 8 }
func (v verifying) Offer(_ string, verdict func(bool)) bool {
	verdict(v.pass)
	return true
}

// The verifier's verdict on a copy counts for the specialist that answered it, with the receipt or without one.
func TestACopyIsJudgedForItsSpecialist(t *testing.T) {
	rt, rings, v, _ := scene(t)
	sp := rt.Specialists[0]
	a := Audit{Verifier: verifying{pass: true}, Verdicts: v, Rings: rings, Now: time.Now}
	c := Copy{Specialist: sp, Tenant: "acme", Receipt: "r", Asked: time.Now()}
	a.OnCopy(c, "")
	a.OnCopy(c, "longer than it may be")
	if n := sp.Board.Report().Correctness.Samples; n != 0 {
		t.Errorf("%d samples of what is not judged", n)
	}
	a.OnCopy(c, "yes")
	a.OnCopy(c, "yes") // of the same receipt: it counts once
	c.Receipt = "gone"
	a.OnCopy(c, "yes")
	if n := sp.Board.Report().Correctness.Samples; n != 2 {
		t.Errorf("%d samples, want 2", n)
	}
	if r, _ := rings.Find("acme", "r"); len(r.Outcomes) != 1 || r.Outcomes[0].Kind != receipt.VerifierKind {
		t.Errorf("%+v", r.Outcomes)
	}
	if none := (&Audit{}); none.Wants() || none.Largest() != 0 {
		t.Error("without a verifier answers are wanted")
	}
}

// Tallies go out at the interval in force, and are counted from nothing then.
func TestTalliesGoOutAtTheirInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := new(taken)
		r := NewRecords(to, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx, func() time.Duration { return 10 * time.Second })
		r.Tally(&classifier.Verdict{RoutedBy: classifier.ByClassifier, Intent: "codegen", Confidence: .5})
		r.Tally(&classifier.Verdict{RoutedBy: classifier.ByModel, Intent: "codegen"}) // not the classifier's
		time.Sleep(25 * time.Second)
		cancel()
		synctest.Wait()
		if len(to.records) != 1 || to.records[0].Tally.Counts[calibration.Bucket(.5)] != 1 {
			t.Errorf("%+v", to.records)
		}
	})
}

// judging is a Judge.
type judging struct {
	class calibration.Class
	err   error
}

func (j judging) Judge(context.Context, calibration.Case) (calibration.Class, error) {
	return j.class, j.err
}

// A judge's word stands above the rules', unless it fails; texts are kept only where that is asked for.
func TestAJudgeHasTheLastWordIfItHasOne(t *testing.T) {
	for name, test := range map[string]struct {
		judge ensemble.Judge
		says  bool
	}{"none": {nil, false}, "one": {judging{class: calibration.ShadowBetter}, true},
		"a failing one": {judging{err: errors.New("no")}, false}} {
		to := new(taken)
		c := Comparer{Records: NewRecords(to, time.Now), Metrics: metrics.New("", "", "")}
		p := &Pair{Rules: calibration.RulesFor("codegen", calibration.Tolerance{}), Prompt: []byte("why"),
			Shadow: &ensemble.Shadow{Judge: test.judge, KeepText: test.says}}
		c.Compare(t.Context(), p, calibration.Answer{Text: []byte("a"), Finish: "stop"},
			calibration.Answer{Text: []byte("b"), Finish: "stop"})
		e := to.records[0].Example
		if (e.Method == calibration.ByJudge) != test.says || (e.Prompt.Text != "") != test.says ||
			e.Prompt.Bytes != 3 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
