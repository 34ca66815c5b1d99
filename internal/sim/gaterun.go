package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// GatePlan is one simulation of a Gate before an engine that batches itself.
type GatePlan struct {
	Name string
	Gate gate.Config // its clock is the simulation's
	Load Shape
	Cost Cost
	// the engine does steps, so that one request's pace depends on the others; else each has its own pace
	Batching   bool
	First      bool   // deadlines are of the first token
	Warm       int    // the first requests have no deadlines: the Gate measures before it promises
	CheckEvery uint64 // answers between two Checks; 0 is at the end only
}

// job is one request at the Gate.
type job struct {
	Arrival
	asked     uint64         // position among all that were asked, resumptions included
	promised  bool           // its deadline was in what the Gate was asked
	at        scheduler.Time // when it was asked
	cancel    func()         // ends its wait
	hold      hold           // nil while it has no place
	turn      *turn
	told      uint64 // when to give way: gateRun.starts then, and one; 0 is not
	gaveWay   bool   // at least once
	level     int    // its priority, lifted by age, when it started
	uncached  int    // tokens of this turn's prefill
	resumed   int    // tokens that it had when the turn began
	generated int
	first     scheduler.Time // when its first token came
	admitted  scheduler.Time
	ends      scheduler.Time // of an engine that is exact: when it will be done
	gone      bool
	expired   bool // its wait was over
	overtaken bool // while it waited, a job that asked later started
}

// gateRun is a simulation under way.
type gateRun struct {
	plan  *GatePlan
	door  admitter
	gate  gauges // of the same Gate
	load  *Workload
	dice  *rand.Rand
	now   scheduler.Time
	next  Arrival
	more  bool
	chain kvpool.Hasher

	waiting []*job
	running []*job // in the order of their admission
	engine  gateEngine
	leave   agenda[*job] // gives up, or its wait is over
	asked   uint64
	oracle  oracle
	out     Outcome
	late    uint64   // were let wait, and refused when it was too late, although no more urgent job came between
	starts  uint64   // so far
	vain    uint64   // gave way, and no more urgent job started
	started []uint64 // by priority, lifted by age: the number of the last start, and one
	trace   trace
}

var origin = time.Unix(1, 0)

// RunGate simulates plan under seed until all requests are done.
func RunGate(plan *GatePlan, seed uint64) (GateOutcome, error) {
	r, err := newGateRun(plan, seed)
	if err != nil {
		return GateOutcome{}, err
	}
	return r.run(seed)
}

// RunModel is RunGate without the Gate: it drives the Model itself. The outcome is the same.
func RunModel(plan *GatePlan, seed uint64) (GateOutcome, error) {
	r := newRun(plan, seed)
	m, err := newOnModel(plan.Gate, &r.now)
	if err != nil {
		return GateOutcome{}, err
	}
	r.door, r.gate = m, m
	return r.run(seed)
}

func (r *gateRun) run(seed uint64) (out GateOutcome, err error) {
	plan := r.plan
	for err == nil && (r.more || len(r.running)+len(r.waiting) > 0) {
		err = r.step()
	}
	if err == nil {
		err = r.baseline()
	}
	r.out.Trace, r.out.Preempted = uint64(r.trace), r.gate.Stats().Preemptions
	out = GateOutcome{Outcome: r.out, Late: r.late, Vain: r.vain, Oracle: r.oracle.Verdict}
	if !plan.Batching && plan.Load.Priorities == 1 {
		out.EDF = EDF(plan, seed)
	}
	if err != nil {
		return out, fmt.Errorf("%s, seed %d, answer %d, %v: %w", plan.Name, seed, r.asked, r.now, err)
	}
	return out, nil
}

// GateOutcome is what one run of a Gate did.
type GateOutcome struct {
	Outcome
	Late   uint64 // were let wait, and refused when it was too late, although no more urgent job came between
	Vain   uint64 // gave way, and no more urgent job started: one that age had lifted came back between
	Oracle Verdict
	// requests that EDF serves by their deadline; only of a load of one priority before an engine of own pace
	EDF uint64
}

func newGateRun(plan *GatePlan, seed uint64) (*gateRun, error) {
	r := newRun(plan, seed)
	g, err := newThroughGate(plan.Gate, &r.now)
	r.door, r.gate = g, g
	return r, err
}

// newRun returns a run that has nothing to ask yet.
func newRun(plan *GatePlan, seed uint64) *gateRun {
	r := &gateRun{
		plan: plan, load: NewWorkload(plan.Load, seed), dice: rand.New(rand.NewPCG(seed, 0x656e67)),
		chain: kvpool.NewHasher(1), out: Outcome{Refused: map[string]int{}},
		started: make([]uint64, max(plan.Load.Priorities, plan.Gate.AgingCeiling+1)),
	}
	r.engine = newGateEngine(plan)
	r.oracle.places = plan.Gate.MaxRunning
	r.next, r.more = r.load.Next()
	return r
}

// step goes to the next thing that happens, and lets it happen.
func (r *gateRun) step() error {
	done, busy := r.engine.first()
	over, waits := r.leave.first()
	switch {
	case r.more && (!busy || r.next.At <= done) && (!waits || r.next.At <= over):
		r.now = max(r.now, r.next.At)
		a := r.next
		r.next, r.more = r.load.Next()
		r.out.Asked++
		return r.ask(&job{Arrival: a, promised: a.Deadline > 0 && a.ID > uint64(r.plan.Warm)})
	case waits && (!busy || over <= done):
		r.now = over
		return r.end()
	case busy:
		r.now = done
		r.out.Steps++
		return r.advance()
	}
	return fmt.Errorf("starvation: %d wait and %d run, and nothing is to happen", len(r.waiting), len(r.running))
}

// ask brings j to the Gate, for the first time or to resume.
func (r *gateRun) ask(j *job) error {
	r.asked++
	j.asked, j.at, j.resumed = r.asked, r.now, j.generated
	request := r.request(j)
	if j.promised {
		r.oracle.picture(r, j)
	}
	r.waiting = append(r.waiting, j)
	r.door.ask(j, request)
	if err := r.collect(); err != nil {
		return err
	}
	if j.hold == nil && !j.gone {
		r.leave.note(r.patience(j), j)
	}
	if j.GivesUp > 0 && j.resumed == 0 {
		r.leave.note(max(r.now, j.GivesUp), j)
	}
	return r.giveWay()
}

// patience returns when the wait of j is over.
func (r *gateRun) patience(j *job) scheduler.Time {
	over := j.at + r.plan.Gate.MaxWait
	if j.promised {
		over = min(over, j.Deadline)
	}
	return over
}

func (r *gateRun) request(j *job) gate.Request {
	g := gate.Request{
		ID: strconv.FormatUint(j.ID, 10), Priority: j.Priority, PromptTokens: len(j.Tokens), MaxNew: j.MaxNew,
		Resume: j.generated,
		Tenant: tenants[j.Tenant%len(tenants)], Victim: j.Deadline == 0 && j.Priority == 0, Arrived: origin.Add(j.At),
		Paid: j.gaveWay,
	}
	if size := r.plan.Gate.BlockSize; size > 0 {
		g.Chain = r.chain.Chain(nil, root(j.Adapter), j.Tokens, size)
	}
	switch {
	case j.promised && r.plan.First:
		g.TTFTDeadline = origin.Add(j.Deadline)
	case j.promised:
		g.Deadline = origin.Add(j.Deadline)
	}
	return g
}

// end lets one job's time be over: it gives up, whatever it does, or it has waited too long.
func (r *gateRun) end() error {
	_, j, _ := r.leave.next(r.now)
	tired := j.GivesUp > 0 && r.now >= j.GivesUp
	switch {
	case j.gone || j.hold != nil && !tired:
		return nil
	case j.hold != nil:
		j.gone = true
		r.out.Cancelled++
		if err := r.release(j); err != nil {
			return err
		}
	default:
		if !tired && r.now < r.patience(j) {
			return nil // it ran meanwhile, and waits again
		}
		j.expired = !tired
		r.door.giveUp(j)
		if err := r.collectUntil(func() bool { return j.gone || j.hold != nil }); err != nil {
			return err
		}
	}
	return r.giveWay()
}

// tooLong is the reason of those whose wait ended without an answer.
const tooLong = "waited too long"

// refused notes an answer that is no ticket.
func (r *gateRun) refused(j *job, err error) error {
	j.gone = true
	var refusal *scheduler.Refusal
	switch {
	case errors.As(err, &refusal):
		r.out.Refused[refusal.Reason.Error()]++
		if j.promised && j.at == r.now && errors.Is(err, scheduler.ErrDeadline) {
			r.oracle.refused()
		}
		r.trace.add(j.ID, uint64(refusal.RetryAfter))
	case errors.Is(err, context.Canceled) && j.expired:
		r.out.Refused[tooLong]++
		r.trace.add(j.ID, 1)
	case errors.Is(err, context.Canceled):
		r.out.Cancelled++
		r.trace.add(j.ID, 2)
	default:
		return fmt.Errorf("%d: %w", j.ID, err)
	}
	if j.late(r.now, err) {
		r.late++
	}
	return nil
}

// late reports whether j, which was let wait and is refused now, could have been refused at once.
func (j *job) late(now scheduler.Time, err error) bool {
	if !j.promised || j.overtaken || j.at == now {
		return false
	}
	return !errors.Is(err, context.Canceled) || j.expired && now >= j.Deadline
}

// baseline checks that nothing is left when all is done.
func (r *gateRun) baseline() error {
	s := r.gate.Stats()
	if s.Free != s.Total || s.Waiting+s.Running+s.Preempting != 0 {
		return fmt.Errorf("all is done, and the gate has %+v", s)
	}
	if done := r.out.Finished + r.out.Cancelled + uint64(r.out.RefusedInAll()); done != r.out.Asked {
		return fmt.Errorf("%d asked, %d finished, were cancelled or refused", r.out.Asked, done)
	}
	return r.gate.Check()
}
