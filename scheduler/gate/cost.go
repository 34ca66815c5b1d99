package gate

import (
	"math"
	"time"

	"octet/scheduler"
)

// maxDecodeCost bounds what a token of an answer is held to cost, in tokens of a prompt: beyond it the measurement is
// of something else.
const maxDecodeCost = 256

// cost is what r takes from its tenant's share: the tokens of its prompt that no cache saves, and those of its answer,
// as long as answers are and no longer than it asks for, in tokens of a prompt that take the engine as long. When the
// answer ends its tenant is charged for what it was, see waiting.settleCost.
func (e *engine) cost(r *Request, reuse int) int {
	s := r.shape()
	return e.ledger.uncached(r, reuse) + e.answerCost(r, s.sequences())
}

// answerCost is the part of r's cost that its answer is, of so many sequences.
func (e *engine) answerCost(r *Request, sequences int) int {
	answer := e.rates.tokens(r.MaxNew)
	if usual := e.rates.length.value(); usual > 0 {
		answer = min(answer, usual)
	}
	return int(max(0, answer*float64(sequences)-float64(r.Resume)) * e.decodeCost())
}

// count tells what r's tenant takes of the engine by l, which starts. A request that has paid before takes no more.
func (e *engine) count(r *Request, l *Lease) {
	if e.shares == nil || r.Paid {
		return
	}
	l.counted = l.uncached + e.answerCost(r, l.shape.sequences())
	e.shares.Started(r.Tenant, l.rank.Priority, l.counted)
}

// decodeCost is what one token of an answer costs: its part of a step among as many sequences as run now, in tokens of
// a prompt. It is 1 until both are measured.
func (e *engine) decodeCost() float64 {
	slope, ok := e.rates.ttft.slope()
	if !ok || slope <= 0 || !e.rates.ttft.known() || !e.rates.pace.known() {
		return 1
	}
	company := float64(max(1, e.company()))
	return min(maxDecodeCost, max(1, e.rates.pace.level(company)/company/slope))
}

// victimCost returns the tokens that the engine would compute again for l, for each block that its end frees. What
// other leases keep in the prefix cache is not lost; of a prefill under way as much is as its time is over. All
// requests of an engine are of one model, so that recurrent state, if it has any, weighs the same on each.
func (e *engine) victimCost(l *Lease, now scheduler.Time) float64 {
	lost := e.done(l, now) + e.untoldTokens(l, now)
	if e.ledger.pool == nil {
		return lost
	}
	freed, kept := e.ledger.frees(l)
	if freed == 0 {
		return math.Inf(1)
	}
	return max(0, lost-float64(kept)) / float64(freed)
}

// untoldTokens is what the tokens weigh that an answer which comes whole has by now and the client has not, in tokens
// of prefill that take the engine as long: they are generated again from the first.
func (e *engine) untoldTokens(l *Lease, now scheduler.Time) float64 {
	if !l.whole || !e.rates.ttft.known() {
		return 0
	}
	if slope, ok := e.rates.ttft.slope(); ok && slope > 0 {
		return max(0, float64(now-l.admitted-e.rates.prefillTime(l))) * e.share(l) / slope
	}
	return 0
}

// share is l's part of the engine while all run side by side.
func (e *engine) share(l *Lease) float64 {
	return float64(l.shape.sequences()) / float64(e.company())
}

// done returns the tokens of l that the engine holds.
func (e *engine) done(l *Lease, now scheduler.Time) float64 {
	if l.first != 0 {
		return float64(l.shape.prompt + l.shape.apart(e.ledger.pool) + l.generated)
	}
	part := 1.0
	if whole := e.rates.prefillTime(l); whole > 0 {
		part = min(1, float64(now-l.admitted)/float64(whole))
	}
	return float64(l.computed) + part*float64(l.uncached)
}

// lostTime is the engine's time that is lost if l gives way, as far as the rates tell: an answer that comes whole
// begins anew, a stream has its prompt and its tokens so far computed again.
func (e *engine) lostTime(l *Lease, now scheduler.Time) time.Duration {
	if l.whole {
		return time.Duration(float64(now-l.admitted) * e.share(l))
	}
	_, kept := e.ledger.frees(l)
	return e.rates.firstToken(max(0, int(e.done(l, now))-kept), found{})
}
