package gateway

import (
	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/slo"
)

// Verifier gives verdicts on answers, some time, where it can.
type Verifier interface {
	// Wants says whether the next answer is of the sample that is judged.
	Wants() bool
	// Largest is the length of the longest answer that is judged, in bytes.
	Largest() int64
	// Offer takes an answer without waiting; verdict is called from another goroutine, or never. False: there was no
	// room.
	Offer(answer string, verdict func(pass bool)) bool
}

// sampleForJudge begins to keep what the client will be told, where the judge wants it.
func (x *exchange) sampleForJudge() {
	if x.s.verifier != nil && !x.dry && x.s.verifier.Wants() {
		x.judge = true
		x.relay.Transcript.Keep(x.s.verifier.Largest())
	}
}

// toBeJudged is a complete answer that the judge wants to see; nil where there is none.
func (x *exchange) toBeJudged(r *receipt.Receipt) []byte {
	if x.s.verifier == nil || !x.judge || !r.Result.Done {
		return nil
	}
	text, ok := x.relay.Transcript.Within(x.s.verifier.Largest())
	if !ok || len(text) == 0 {
		return nil
	}
	return text
}

// haveJudged offers an answer to the judge. Its verdict comes when the exchange is long gone.
func (x *exchange) haveJudged(r *receipt.Receipt, text []byte) {
	s, rt := x.s, x.rt
	s.verifier.Offer(string(text), func(pass bool) {
		s.judge(rt, r, receipt.Outcome{Kind: receipt.VerifierKind, Pass: pass, Time: s.now()})
	})
}

// judgeCopy offers a specialist's answer to the copy of a request: how a demoted one recovers. Its verdict counts for
// that specialist, as one sample with what is said of the copy by the receipt of the request, once there is one.
func (s *Server) judgeCopy(sh *shadow, answer string) {
	if s.verifier == nil || answer == "" || int64(len(answer)) > s.verifier.Largest() {
		return
	}
	sp, asked, tenant, id := sh.sp, sh.asked, sh.tenant, sh.example.Receipt
	s.verifier.Offer(answer, func(pass bool) {
		o := receipt.Outcome{Kind: receipt.VerifierKind, Specialist: sp.Name, Pass: pass, Time: s.now()}
		if r, ok := s.receipts.Find(tenant, id); ok {
			weigh(sp, r, o)
			return
		}
		judged(sp, slo.Verdict{Answered: asked, Pass: pass})
	})
}

// judged counts a verdict on an answer of the specialist.
func judged(sp *ensemble.Specialist, v slo.Verdict) {
	sp.Board.Outcome(v)
	sp.Metrics.Verdict(v.Pass)
}
