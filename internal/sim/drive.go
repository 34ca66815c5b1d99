package sim

import (
	"context"
	"runtime"
	"time"

	"octet/scheduler"
	"octet/scheduler/gate"
)

// admitter is how a simulation asks for admission: through a Gate, or of its Model itself. Both do the same.
type admitter interface {
	ask(j *job, r gate.Request)
	giveUp(j *job)      // ends j's wait, or what its admission holds
	collect() []verdict // of the jobs that were settled meanwhile; every other one that asked is in the queue
}

// gauges is what a simulation reads of a Gate.
type gauges interface {
	Stats() scheduler.Stats
	Check() error
	Probe(r gate.Request) scheduler.Answer
}

// hold is a job's place in the engine.
type hold interface {
	FirstToken()
	Grow(tokens int)
	Yielding() bool
	Release()
}

// verdict is the answer to one job.
type verdict struct {
	job    *job
	hold   hold // nil if it was refused
	reused int  // blocks
	err    error
}

// throughGate asks a Gate. Requests that wait are goroutines inside Admit; the simulation goes on only when each of
// them has come out, or is in the queue. A waiter's own timer runs on the wall clock, thousands of times slower than
// the simulation's: the simulation ends the wait itself when it is over.
type throughGate struct {
	*gate.Gate
	verdicts chan verdict
	inside   int // in Admit: unanswered as far as the simulation knows
}

func newThroughGate(cfg gate.Config, now *scheduler.Time) (*throughGate, error) {
	cfg.Now = func() time.Time { return origin.Add(*now) }
	g, err := gate.New(cfg)
	return &throughGate{Gate: g, verdicts: make(chan verdict, cfg.MaxWaiting+1)}, err
}

func (g *throughGate) ask(j *job, r gate.Request) {
	ctx, cancel := context.WithCancel(context.Background())
	j.cancel = cancel
	g.inside++
	go func() {
		t, err := g.Admit(ctx, r)
		if err != nil {
			g.verdicts <- verdict{job: j, err: err}
			return
		}
		g.verdicts <- verdict{job: j, hold: t, reused: t.Reused()}
	}()
}

func (g *throughGate) giveUp(j *job) { j.cancel() }

func (g *throughGate) collect() (settled []verdict) {
	runtime.Gosched()
	for g.inside != g.Stats().Waiting {
		select {
		case v := <-g.verdicts:
			g.inside--
			settled = append(settled, v)
		default:
			runtime.Gosched()
		}
	}
	return settled
}

// onModel asks a Model: nothing runs beside the simulation.
type onModel struct {
	model   *gate.Model
	now     *scheduler.Time
	waiters map[*gate.Waiter]*modelHold
	settled []verdict
}

func newOnModel(cfg gate.Config, now *scheduler.Time) (*onModel, error) {
	m, err := gate.NewModel(cfg, origin)
	return &onModel{model: m, now: now, waiters: map[*gate.Waiter]*modelHold{}}, err
}

// modelHold is one job's lease, or its place in the queue.
type modelHold struct {
	*onModel
	job    *job
	lease  gate.Lease
	waiter gate.Waiter
}

func (m *onModel) ask(j *job, r gate.Request) {
	h := &modelHold{onModel: m, job: j}
	j.cancel = h.abandon
	switch state, err := m.model.Ask(&r, &h.lease, *m.now); state {
	case scheduler.Admitted:
		m.settled = append(m.settled, verdict{job: j, hold: h, reused: h.lease.Reused()})
	case scheduler.Refused:
		m.settled = append(m.settled, verdict{job: j, err: err})
	default:
		m.waiters[&h.waiter] = h
		m.model.Queue(&h.waiter, &r, &h.lease, *m.now)
	}
}

func (m *onModel) giveUp(j *job) { j.cancel() }

// abandon ends the wait of h, if it waits.
func (h *modelHold) abandon() {
	if _, waits := h.waiters[&h.waiter]; waits {
		delete(h.waiters, &h.waiter)
		h.model.Abandon(&h.waiter, *h.now)
		h.settled = append(h.settled, verdict{job: h.job, err: context.Canceled})
	}
}

// collect adds what the Model decided for waiters.
func (m *onModel) collect() []verdict {
	settled, _ := m.model.Effects() // the simulation asks each lease whether it yields
	for _, w := range settled {
		h := m.waiters[w]
		delete(m.waiters, w)
		v := verdict{job: h.job, hold: h, reused: h.lease.Reused()}
		if no := w.Refusal(); no != nil {
			v = verdict{job: h.job, err: no}
		}
		m.settled = append(m.settled, v)
	}
	all := m.settled
	m.settled = nil
	return all
}

// Stats returns the present picture.
func (m *onModel) Stats() scheduler.Stats { return m.model.Stats() }

// Check proves the Model's invariants.
func (m *onModel) Check() error { return m.model.Check(*m.now) }

// Probe returns what would become of r.
func (m *onModel) Probe(r gate.Request) scheduler.Answer { return m.model.Probe(&r, *m.now) }

// FirstToken notes the end of the prefill.
func (h *modelHold) FirstToken() { h.model.FirstToken(&h.lease, *h.now) }

// Grow notes the tokens so far.
func (h *modelHold) Grow(tokens int) { h.model.Grow(&h.lease, tokens, *h.now) }

// Yielding reports whether the job has to give way.
func (h *modelHold) Yielding() bool { return h.lease.Yielding() }

// Release gives the place back.
func (h *modelHold) Release() { h.model.Release(&h.lease, *h.now) }
