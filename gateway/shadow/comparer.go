package shadow

import (
	"context"
	"slices"

	"octet/calibration"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
)

// Comparer makes records of pairs of answers.
type Comparer struct {
	Records *Records
	Metrics *metrics.Series
	Digest  func([]byte) string // of texts in records; nil if there are no digests
}

// Pair is a request that two specialists answer.
type Pair struct {
	Example calibration.Example // as far as it is known at the decision
	Rules   calibration.Rules
	Shadow  *ensemble.Shadow // of the configuration that decided
	Prompt  []byte
}

// Compare makes a record of the two answers to a request: the primary's and the shadow's.
func (c *Comparer) Compare(ctx context.Context, p *Pair, primary, shadow calibration.Answer) {
	e := p.Example
	e.Comparison = p.Rules.Compare(primary, shadow)
	if judge := p.Shadow.Judge; judge != nil {
		e.Comparison = c.judged(ctx, judge, e.Comparison,
			calibration.Case{Intent: e.Intent, Prompt: p.Prompt, Primary: shown(primary), Shadow: shown(shadow)})
	}
	e.Label = e.Winner(e.Primary.Specialist, e.Shadow.Specialist)
	keep := p.Shadow.KeepText
	e.Prompt = c.text(p.Prompt, keep)
	e.Answers = calibration.Answers{Primary: c.answer(&primary, keep), Shadow: c.answer(&shadow, keep)}
	c.Metrics.Compared(e.Intent, string(e.Class))
	if e.Calls != "" {
		c.Metrics.ComparedCalls(e.Intent, string(e.Calls))
	}
	c.Records.Offer(calibration.Record{Example: &e})
}

// judged returns what a judge makes of what the rules said. A judge that fails, or contradicts itself, has no say.
func (c *Comparer) judged(ctx context.Context, judge ensemble.Judge, by calibration.Comparison,
	of calibration.Case) calibration.Comparison {
	class, err := judge.Judge(ctx, of)
	if err != nil {
		by.Judge = calibration.JudgeFault(err)
		c.Metrics.Judged(by.Judge)
		return by
	}
	c.Metrics.Judged("ok")
	by.Class, by.Method = class, calibration.ByJudge
	return by
}

// answer is what a record has of an answer.
func (c *Comparer) answer(a *calibration.Answer, keep bool) calibration.Text {
	t := c.text(a.Text, keep)
	t.Finish = a.Finish
	for i := range a.Calls {
		t.Calls = append(t.Calls, c.call(&a.Calls[i], keep))
	}
	return t
}

// call is what a record has of a tool call.
func (c *Comparer) call(call *calibration.Call, keep bool) calibration.CallText {
	t := calibration.CallText{Bytes: len(call.Name) + len(call.Arguments)}
	if c.Digest != nil {
		t.Hash = c.Digest(slices.Concat([]byte(call.Name), []byte{0}, call.Arguments))
	}
	if keep {
		t.Name, t.Arguments = call.Name, string(call.Arguments)
	}
	return t
}

func (c *Comparer) text(text []byte, keep bool) calibration.Text {
	t := calibration.Text{Bytes: len(text)}
	if c.Digest != nil {
		t.Hash = c.Digest(text)
	}
	if keep {
		t.Text = string(text)
	}
	return t
}
