package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"octet/scheduler"
	"octet/scheduler/core"
)

// CorePlan is one simulation of a Core.
type CorePlan struct {
	Name       string
	Core       core.Config
	Load       Shape
	Cost       Cost
	CheckEvery uint64 // steps between two Checks; 0 is at the end only
	Seen       bool   // every running request is in every batch, so that all that happens can be judged to the request
}

// coreRun is a simulation under way.
type coreRun struct {
	plan  *CorePlan
	core  *core.Core
	load  *Workload
	dice  *rand.Rand // the engine's
	now   scheduler.Time
	next  Arrival
	more  bool // next is still to come
	leave agenda[uint64]

	live    map[uint64]*life // never iterated
	names   []string         // of the adapters
	memory  memory
	host    host
	watch   watch
	results []core.Result
	gone    int    // cancelled during the step
	open    uint64 // tokens that live requests may still compute, as a bound on the steps of the rest
	out     Outcome
	trace   trace
}

// RunCore simulates plan under seed until all requests are done. It returns what happened so far and the first promise
// that was broken.
func RunCore(plan *CorePlan, seed uint64) (Outcome, error) {
	r, err := newCoreRun(plan, seed)
	if err != nil {
		return Outcome{}, err
	}
	for r.more || len(r.live) > 0 {
		if err = r.step(); err != nil {
			break
		}
	}
	if err == nil {
		err = r.baseline()
	}
	r.out.Trace = uint64(r.trace)
	s := r.core.Stats()
	r.out.Admitted, r.out.Preempted, r.out.Restores = s.Admitted, s.Preemptions, s.Restores
	if err != nil {
		return r.out, fmt.Errorf("%s, seed %d, step %d, %v: %w", plan.Name, seed, r.out.Steps, r.now, err)
	}
	return r.out, nil
}

func newCoreRun(plan *CorePlan, seed uint64) (*coreRun, error) {
	core, err := core.New(plan.Core)
	if err != nil {
		return nil, err
	}
	r := &coreRun{
		plan: plan, core: core, load: NewWorkload(plan.Load, seed), dice: rand.New(rand.NewPCG(seed, 0x656e67)),
		live:   map[uint64]*life{},
		memory: newMemory(plan.Core.Blocks, plan.Core.BlockSize), out: Outcome{Refused: map[string]int{}},
		host: newHost(),
	}
	for i := range plan.Load.Adapters {
		r.names = append(r.names, fmt.Sprintf("adapter-%d", i))
	}
	r.watch = newWatch(plan)
	r.next, r.more = r.load.Next()
	return r, nil
}

// step lets the engine do one batch, and everything happen that comes before it and during it.
func (r *coreRun) step() error {
	if len(r.live) == 0 {
		r.now = max(r.now, r.next.At)
	}
	if err := r.happen(r.now); err != nil {
		return err
	}
	before := r.core.Stats()
	r.gone = 0
	b := r.core.Assemble(r.now)
	if err := r.observe(&b, before); err != nil {
		return err
	}
	if len(b.Items) == 0 {
		if len(r.live) > 0 {
			return fmt.Errorf("an empty batch, and %d are here", len(r.live))
		}
		return nil
	}
	r.out.Steps++
	took := r.compute(&b)
	if err := r.happen(r.now + took); err != nil {
		return err
	}
	r.now += took
	if err := r.settle(b, before); err != nil {
		return err
	}
	return r.conserve()
}

// happen lets requests come and give up until now.
func (r *coreRun) happen(now scheduler.Time) error {
	for r.more && r.next.At <= now {
		if err := r.arrive(&r.next); err != nil {
			return err
		}
		r.next, r.more = r.load.Next()
	}
	for {
		_, id, ok := r.leave.next(now)
		if !ok {
			return nil
		}
		l := r.live[id]
		if was := r.core.Cancel(id); was != (l != nil) {
			return fmt.Errorf("cancelling %d says %t", id, was)
		}
		if l != nil {
			r.out.Cancelled++
			r.gone++
			r.host.unwanted(id)
			r.forget(l)
		}
	}
}

func (r *coreRun) arrive(a *Arrival) error {
	r.out.Asked++
	l := newLife(a)
	want := r.refusal(l)
	answer, err := r.core.Add(l.request(r.names), a.At)
	var refusal *scheduler.Refusal
	switch {
	case errors.As(err, &refusal) != (want != nil) || want != nil && !errors.Is(err, want):
		return fmt.Errorf("refusal: %d is answered %q, the bounds say %q", a.ID, fmt.Sprint(err), fmt.Sprint(want))
	case refusal != nil:
		r.out.Refused[refusal.Reason.Error()]++
		r.trace.add(a.ID, uint64(refusal.RetryAfter))
		return nil
	case err != nil:
		return fmt.Errorf("adding %d: %w", a.ID, err)
	}
	r.trace.add(a.ID, uint64(answer.State), uint64(answer.Estimate))
	r.live[a.ID] = l
	r.open += uint64(len(a.Tokens) + a.MaxNew)
	r.watch.arrived(l, r.core.Stats().Preemptions)
	r.watch.waiting += r.promptBytes(l)
	if a.GivesUp > 0 {
		r.leave.note(a.GivesUp, a.ID)
	}
	return nil
}

func (r *coreRun) forget(l *life) {
	r.open -= uint64(len(l.Tokens) + l.MaxNew)
	if l.batch == 0 {
		r.watch.waiting -= r.promptBytes(l)
	}
	r.watch.left(l)
	delete(r.host.states, l.ID)
	delete(r.live, l.ID)
}

// compute does the batch as an engine does: it reads the cache up to each item, writes the item's positions and the
// drafts behind them, and samples. It returns how long that took.
func (r *coreRun) compute(b *core.Batch) time.Duration {
	r.results = r.results[:0]
	prefill, decodes := 0, 0
	for i := range b.Items {
		it := &b.Items[i]
		l := r.live[it.ID]
		for p := it.Start; p < it.Start+len(it.Tokens); p++ {
			*r.memory.cell(it, p) = l.content[p]
		}
		if it.Mode == core.Prefill {
			prefill += len(it.Tokens)
		}
		result := core.Result{ID: it.ID}
		if it.Samples {
			decodes++
			result.Tokens = r.sample(l, it)
			result.Stop = l.generated()+len(result.Tokens) == l.Answer
		}
		r.results = append(r.results, result)
	}
	return r.plan.Cost.of(prefill, decodes, r.dice)
}

// sample returns the next tokens of l: the accepted drafts, whose positions are in the cache then, and one more.
func (r *coreRun) sample(l *life, it *core.Item) []uint32 {
	accepted := 0
	if it.Draft > 0 {
		accepted = l.accepts(it.Draft)
	}
	tokens := make([]uint32, accepted+1)
	h := l.content[len(l.content)-1]
	for i := range tokens {
		tokens[i] = l.token(l.generated() + i)
	}
	for i := range it.Draft {
		p := it.Start + len(it.Tokens) + i
		*r.memory.cell(it, p) = garbage
		if i < accepted {
			h = mix(h, uint64(tokens[i]))
			*r.memory.cell(it, p) = h
		}
	}
	return tokens
}

// settle commits the batch, or aborts it where the engine fails: then its positions hold garbage.
func (r *coreRun) settle(b core.Batch, before scheduler.Stats) error {
	if r.plan.Load.Failures > 0 && r.dice.Float64() < r.plan.Load.Failures {
		r.out.Aborted++
		r.spoil(&b)
		r.spoiled(&b)
		r.core.Abort(b)
		r.trace.add(b.Step)
		return r.undone(&before)
	}
	r.host.told(len(b.Discards))
	for i := range b.Items {
		it := &b.Items[i]
		if l := r.live[it.ID]; l != nil {
			l.computed = it.Start + len(it.Tokens) + max(0, len(r.results[i].Tokens)-1)
			r.host.settled(it)
		}
	}
	for _, o := range r.core.Commit(b, r.results, r.now) {
		l := r.live[o.ID]
		if l == nil || o.Index != l.generated() || o.Token != l.token(o.Index) {
			return fmt.Errorf("output %+v of a request that is not here, or not its next token", o)
		}
		r.trace.add(o.ID, uint64(o.Index), uint64(o.Token), uint64(o.Finish))
		l.push(o.Token)
		if done := l.generated() == l.Answer; done != (o.Finish != core.NotFinished) {
			return fmt.Errorf("%d has %d of %d tokens, finish %d", l.ID, l.generated(), l.Answer, o.Finish)
		}
		if o.Finish != core.NotFinished {
			r.finish(l)
		}
	}
	r.recurred(&b)
	return r.lean(&b)
}

func (r *coreRun) finish(l *life) {
	r.out.Finished++
	if l.Deadline > 0 {
		r.out.Deadlines++
		if r.now > l.Deadline {
			r.out.Misses++
		}
	}
	r.forget(l)
}

// spoil leaves garbage where the failed batch was writing.
func (r *coreRun) spoil(b *core.Batch) {
	for i := range b.Items {
		it := &b.Items[i]
		if r.live[it.ID] == nil {
			continue // its blocks may be another request's by now
		}
		for p := it.Start; p < it.Start+len(it.Tokens)+it.Draft; p++ {
			*r.memory.cell(it, p) = garbage
		}
	}
}
