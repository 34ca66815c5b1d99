package sim

import (
	"time"

	"octet/scheduler"
)

// chunk is the most prompt tokens that the batching engine computes in one step.
const chunk = 256

// gateEngine is what a self-batching engine does to its requests. Either every request has its own pace, and an agenda
// says when its next tokens come; or all advance together, step by step.
type gateEngine struct {
	plan     *GatePlan
	tokens   agenda[*turn] // own pace
	steps    bool          // a step is under way
	stepEnds scheduler.Time
	turns    []*turn // batching, in the order of admission
	step     []*turn // of turns: those in the step
}

// turn is one stay of a job in the engine.
type turn struct {
	job      *job
	unfilled int // prompt tokens still to compute
	more     int // tokens that come next
	begun    bool
}

func newGateEngine(plan *GatePlan) gateEngine { return gateEngine{plan: plan} }

// first returns when the engine does something next; false when it is idle.
func (e *gateEngine) first() (scheduler.Time, bool) {
	if e.plan.Batching {
		return e.stepEnds, e.steps
	}
	return e.tokens.first()
}

// pace is what a token costs at an engine where each request has its own pace.
func (e *gateEngine) pace() time.Duration {
	return e.plan.Cost.Step + time.Duration(e.plan.Gate.MaxRunning)*e.plan.Cost.Decode
}

func (r *gateRun) noisy(d time.Duration) time.Duration {
	c := Cost{Step: d, Noise: r.plan.Cost.Noise}
	return c.of(0, 0, r.dice)
}

func (e *gateEngine) start(r *gateRun, j *job) {
	t := &turn{job: j, unfilled: j.uncached}
	j.turn = t
	if e.plan.Batching {
		e.turns = append(e.turns, t)
		if !e.steps {
			e.begin(r)
		}
		return
	}
	t.more = 1
	prefill := e.plan.Cost.Step + time.Duration(j.uncached)*e.plan.Cost.Prefill
	e.tokens.note(r.now+r.noisy(prefill), t)
	j.ends = r.now + prefill + e.pace()*time.Duration(j.Answer-j.generated-1)
}

// stop forgets the turn of j.
func (e *gateEngine) stop(j *job) {
	j.turn = nil
	kept := e.turns[:0]
	for _, t := range e.turns {
		if t.job != j {
			kept = append(kept, t)
		}
	}
	clear(e.turns[len(kept):])
	e.turns = kept
}

// begin starts a step of all that are here.
func (e *gateEngine) begin(r *gateRun) {
	e.step = append(e.step[:0], e.turns...)
	e.steps = len(e.step) > 0
	prefill, decodes, budget := 0, 0, chunk
	for _, t := range e.step {
		t.more = 1
		if t.unfilled > 0 {
			n := min(t.unfilled, budget)
			t.unfilled -= n
			budget -= n
			prefill += n
			if t.unfilled > 0 || n == 0 {
				t.more = 0
				continue
			}
		}
		decodes++
	}
	e.stepEnds = r.now + e.plan.Cost.of(prefill, decodes, r.dice)
}

// advance lets the engine's next tokens come.
func (r *gateRun) advance() error {
	e := &r.engine
	if !e.plan.Batching {
		_, t, _ := e.tokens.next(r.now)
		return r.deliver(t)
	}
	e.steps = false
	for _, t := range e.step {
		if err := r.deliver(t); err != nil {
			return err
		}
	}
	e.begin(r)
	return nil
}

// holds reports whether t is still its job's turn.
func (e *gateEngine) holds(t *turn) bool { return t.job.turn == t }

// deliver gives t's job the tokens that have come, and says so to the Gate at block boundaries.
func (r *gateRun) deliver(t *turn) error {
	j := t.job
	if t.more == 0 || j.gone || j.hold == nil || j.generated >= j.Answer || !r.engine.holds(t) {
		return nil
	}
	j.generated += t.more
	first := !t.begun
	t.begun = true
	size := max(1, r.plan.Gate.BlockSize)
	switch {
	case first:
		if j.first == 0 {
			j.first = r.now
		}
		j.hold.FirstToken()
	case j.generated == j.Answer || (len(j.Tokens)+j.generated)%size == 0:
		j.hold.Grow(j.generated)
	}
	if err := r.collect(); err != nil {
		return err
	}
	if _, err := r.hear(); err != nil {
		return err
	}
	if j.generated == j.Answer {
		return r.finish(j)
	}
	if !r.plan.Batching {
		t.more = min(j.Answer-j.generated, size-(len(j.Tokens)+j.generated)%size)
		r.engine.tokens.note(r.now+r.noisy(time.Duration(t.more)*r.engine.pace()), t)
	}
	return r.giveWay()
}
