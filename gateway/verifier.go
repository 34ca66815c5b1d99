package gateway

import (
	"time"

	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/slo"
)

// Verifier gives verdicts on answers, some time, where it can.
type Verifier interface {
	// Wants says whether the next answer is of the sample that is judged.
	Wants() bool
	// Offer takes an answer without waiting; verdict is called from another goroutine, or never. False: there was no room.
	Offer(answer string, verdict func(pass bool)) bool
}

// verifierKind is the kind of the verdicts of our own judge, beside those that clients name.
const verifierKind = "verifier"

// mostSaid bounds the text of an answer that is kept for a judge, in bytes; a longer one is not judged.
const mostSaid = 1 << 20

// said is what a client was told, for a judge.
type said struct {
	text []byte // the inside of a JSON string
	over bool   // it was too long
}

// sampleForJudge begins to keep what the client will be told, where the judge wants it.
func (x *exchange) sampleForJudge() {
	if x.s.verifier != nil && !x.dry && x.s.verifier.Wants() {
		x.said = new(said)
	}
}

// overheard makes a scanner keep the text for the judge, beside what o wants. An answer of which nobody has seen anything begins
// anew.
func (x *exchange) overheard(o sse.Options) sse.Options {
	kept, other := x.said, o.Text
	if kept == nil {
		return o
	}
	if !x.started {
		*kept = said{text: kept.text[:0]}
	}
	o.Text = func(raw []byte) {
		kept.add(raw)
		if other != nil {
			other(raw)
		}
	}
	return o
}

func (s *said) add(text []byte) {
	if s.over = s.over || len(s.text)+len(text) > mostSaid; !s.over {
		s.text = append(s.text, text...)
	}
}

// whole keeps the text of a unary answer. One without text is not judged.
func (s *said) whole(body []byte) {
	if s != nil {
		*s = said{}
		s.add(sse.UnaryText(body))
	}
}

// plain is the text, "" where there is none to judge.
func (s *said) plain() string {
	if s == nil || s.over {
		return ""
	}
	return string(wire.AppendUnquoted(nil, s.text))
}

// haveJudged offers a complete answer to the judge. Its verdict comes when the exchange is long gone.
func (x *exchange) haveJudged() {
	text := x.said.plain()
	if text == "" || !x.receipt.Result.Done {
		return
	}
	s, rt, r := x.s, x.rt, x.receipt
	// r was marked as shared before it was put away.
	s.verifier.Offer(text, func(pass bool) { s.judge(rt, r, verifierKind, pass) })
}

// judgeCopy offers a specialist's answer to the copy of a request that was asked at a time: how a demoted one recovers. Its
// verdict counts for that specialist.
func (s *Server) judgeCopy(sp *Specialist, asked time.Time, answer string) {
	if s.verifier == nil || answer == "" {
		return
	}
	s.verifier.Offer(answer, func(pass bool) { sp.judged(slo.Verdict{Answered: asked, Pass: pass}) })
}

// judged counts a verdict on an answer of the specialist.
func (sp *Specialist) judged(v slo.Verdict) {
	sp.Board.Outcome(v)
	if v.Pass {
		sp.handles.pass.Inc()
	} else {
		sp.handles.fail.Inc()
	}
}
