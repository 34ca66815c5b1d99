package gate

import (
	"octet/scheduler"
	"octet/scheduler/queue"
)

// mostSpoken bounds what a token of an answer is held to cost, in tokens of a prompt: beyond it the measurement is of
// something else.
const mostSpoken = 256

// cost is what r takes from its tenant's share: the tokens of its prompt that no cache saves, and those of its answer,
// as long as answers are and no longer than it asks for, in tokens of a prompt that take the engine as long. An answer
// that is over costs what it was, see settleCost.
func (g *Gate) cost(r *Request, reuse int) int {
	answer := g.rates.tokens(r.MaxNew)
	if usual := g.rates.length.value(); usual > 0 {
		answer = min(answer, usual)
	}
	s := r.shape()
	return g.uncached(r, reuse) + int(max(0, answer*float64(s.sequences())-float64(r.Resume))*g.spoken())
}

// spoken is what one token of an answer costs: its part of a step among as many sequences as run now, in tokens of a
// prompt. 1 until both are measured.
func (g *Gate) spoken() float64 {
	slope, ok := g.rates.prefill.slope()
	if !ok || slope <= 0 || !g.rates.prefill.known() || !g.rates.pace.known() {
		return 1
	}
	company := float64(max(1, g.sequences))
	return min(mostSpoken, max(1, g.rates.pace.level(company)/company/slope))
}

// pass starts r, which fits, past those who wait: its tenant pays for that as they do.
func (g *Gate) pass(r *Request, place queue.Rank, now scheduler.Time) *Ticket {
	cost := 0
	if g.waiting.Len() > 0 && !r.Paid {
		cost = g.cost(r, g.reuse(r))
		g.waiting.Bill(&queue.Newcomer{Level: place.Priority, Tenant: r.Tenant}, cost)
	}
	t := g.start(r, place, now, now)
	t.paid = cost
	return t
}

// settleCost has t's tenant pay what t cost beyond what it has paid at the start, or has it back: answers end before
// all that they asked for. Caller holds gateMu.
func (t *Ticket) settleCost() {
	if t.paid == 0 || t.gate.waiting.Len() == 0 {
		return
	}
	cost := t.uncached + int(float64(t.generated)*t.gate.spoken())
	t.gate.waiting.Amend(t.rank.Priority, t.tenant, cost-t.paid)
}
