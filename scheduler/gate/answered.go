package gate

import (
	"time"

	"octet/scheduler"
)

// Answered says that the whole answer came at once, n tokens of it, those of Resume included: what FirstToken and Grow
// say of blocks, without what they say of time. How long prefill took and how fast tokens came cannot be told apart
// then, and a prefill that seems to last as long as an answer would have deadlines refused that can be met.
func (t *Ticket) Answered(n int) {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if t.released || t.first != 0 {
		return
	}
	now := g.elapsed()
	t.answered(n, now)
	g.letIn(now)
}

// answered is Answered without letting in who fits now. Caller holds gateMu.
func (t *Ticket) answered(n int, now scheduler.Time) {
	g := t.gate
	t.settlePrompt(now)
	t.generated = max(t.generated, n)
	t.begun = t.generated // there is no pace to judge
	if g.pool != nil {
		t.compute()
		t.claim(t.blocks(t.generated, 0))
	}
}

// concluded is answered for one who leaves at once: the blocks of its answer are not taken to be given back, unless
// content would have had to go for them. Caller holds gateMu.
func (t *Ticket) concluded(n int, now scheduler.Time) {
	p := t.gate.pool
	if p != nil && t.blocks(max(t.generated, n), 0)-t.table.Len() > p.Empty() {
		t.answered(n, now)
		return
	}
	t.begin(now)
	t.generated = max(t.generated, n)
	t.begun = t.generated
}

// Complete is Pin, Answered, Cached and Release in one step, for an answer that came at once: nobody is let in, or told
// to give way, in between. cached below 0 is not known, and now zero is what the Gate's clock says. False where t was
// told to give way before: then nothing has changed.
func (t *Ticket) Complete(n, cached int, now time.Time) bool {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if t.yielding {
		return false
	}
	if t.released {
		return true
	}
	at := g.moment(now)
	if t.first == 0 {
		t.concluded(n, at)
	}
	if cached >= 0 {
		t.cachedTokens(cached)
	}
	t.end(at)
	return true
}
