package lessons

import (
	"errors"

	"octet/calibration"
	"octet/classifier"
	"octet/engine"
)

// Errors of Lessons.
var (
	ErrNoText    = errors.New("no calibration record has its text")
	ErrNoLessons = errors.New("the calibration records label no text")
)

// Records gathers what a calibration stream says of each request. The zero Records is empty.
type Records struct {
	of      map[string]*evidence // by receipt
	lines   int
	skipped int // lines that are no records
}

// evidence is what is known of one request.
type evidence struct {
	shown   string // what the classifier saw; empty if the text was not recorded
	opening string // of its conversation: the first turn of the user
	judged  string // the specialist whose answer verdicts are about; empty without a verdict
	failed  bool   // one of the verdicts
	torn    bool   // verdicts are about answers of two specialists
	better  string // the specialist whose answer was better than another's; empty if unknown
	worse   string // the other specialist of a decided duel
}

// Line adds one line of the stream. A line that is not a record is counted and left out.
func (r *Records) Line(line []byte) {
	record, err := calibration.Parse(line)
	if err != nil {
		r.skipped++
		return
	}
	r.lines++
	switch {
	case record.Example != nil:
		r.at(record.Example.Receipt).example(record.Example)
	case record.Verdict != nil:
		r.at(record.Verdict.Receipt).verdict(record.Verdict)
	}
}

func (r *Records) at(receipt string) *evidence {
	if r.of == nil {
		r.of = map[string]*evidence{}
	}
	e := r.of[receipt]
	if e == nil {
		e = &evidence{}
		r.of[receipt] = e
	}
	return e
}

func (e *evidence) example(x *calibration.Example) {
	e.shown, e.opening = seen(x.Prompt.Text)
	switch x.Class { //nolint:exhaustive // the others say nothing of which is better
	case calibration.PrimaryBetter:
		e.better, e.worse = x.Primary.Specialist, x.Shadow.Specialist
	case calibration.ShadowBetter:
		e.better, e.worse = x.Shadow.Specialist, x.Primary.Specialist
	}
}

func (e *evidence) verdict(v *calibration.Verdict) {
	e.torn = e.torn || e.judged != "" && e.judged != v.Lane.Specialist
	e.judged = v.Lane.Specialist
	e.failed = e.failed || !v.Pass
}

// seen returns what the gateway's classifier saw of a recorded prompt, and how its conversation began.
func seen(prompt string) (shown, opening string) {
	if prompt == "" {
		return "", ""
	}
	in := classifier.Input{Text: []byte(prompt)}
	messages, chat := engine.ParseChat(prompt)
	if chat {
		in.Text = nil
	}
	for _, m := range messages {
		in.Turns = append(in.Turns, classifier.Turn{Role: m.Role, Text: []byte(m.Content)})
		if opening == "" && m.Role == "user" {
			opening = m.Content
		}
	}
	return string(in.Shown()), opening
}
