package gateway

import (
	"context"

	"octet/calibration"
	"octet/gateway/ensemble"
)

// conclude makes a record of two answers.
func (a *shadows) conclude(ctx context.Context, sh *shadow, primary, answer calibration.Answer) {
	e := sh.example
	prompt := sh.render(nil)
	e.Comparison = sh.review.Compare(primary, answer)
	if judge := sh.rt.Shadow.Judge; judge != nil {
		e.Comparison = a.judged(ctx, judge, e.Comparison,
			calibration.Case{Intent: e.Intent, Prompt: prompt, Primary: primary.Text, Shadow: answer.Text})
	}
	e.Label = e.Winner(e.Primary.Specialist, e.Shadow.Specialist)
	keep := sh.rt.Shadow.KeepText
	e.Prompt = a.text(prompt, "", keep)
	e.Answers = calibration.Answers{Primary: a.text(primary.Text, primary.Finish, keep),
		Shadow: a.text(answer.Text, answer.Finish, keep)}
	a.s.metrics.Compared(e.Intent, string(e.Class))
	a.offer(calibration.Record{Example: &e})
}

// judged is what a judge makes of what the rules said. One that fails, or contradicts itself, has no say.
func (a *shadows) judged(ctx context.Context, judge ensemble.Judge, c calibration.Comparison,
	cs calibration.Case) calibration.Comparison {
	class, err := judge.Judge(ctx, cs)
	if err != nil {
		c.Judge = calibration.JudgeFault(err)
		a.s.metrics.Judged(c.Judge)
		return c
	}
	a.s.metrics.Judged("ok")
	c.Class, c.Method = class, calibration.ByJudge
	return c
}

func (a *shadows) text(text []byte, finish string, keep bool) calibration.Text {
	t := calibration.Text{Hash: a.digest(text), Bytes: len(text), Finish: finish}
	if keep {
		t.Text = string(text)
	}
	return t
}

func (a *shadows) offer(r calibration.Record) {
	if a.stream != nil {
		r.V, r.Time = calibration.Version, a.s.now()
		a.stream.Offer(r)
	}
}
