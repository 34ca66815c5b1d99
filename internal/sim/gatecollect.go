package sim

import (
	"fmt"
	"slices"

	"octet/scheduler"
)

// collect settles the jobs that were answered, in the order they had asked; every other one waits in the queue.
func (r *gateRun) collect() error {
	return r.collectUntil(func() bool { return true })
}

func (r *gateRun) collectUntil(done func() bool) error {
	for {
		settled := r.door.collect()
		slices.SortFunc(settled, func(a, b verdict) int { return int(a.job.asked) - int(b.job.asked) })
		r.waiting = slices.DeleteFunc(r.waiting, func(o *job) bool {
			return slices.ContainsFunc(settled, func(v verdict) bool { return v.job == o })
		})
		for _, v := range settled {
			if err := r.settle(v); err != nil {
				return err
			}
		}
		if done() {
			return r.conserve()
		}
	}
}

// settle starts or buries the job that was answered.
func (r *gateRun) settle(v verdict) error {
	j := v.job
	if v.err != nil {
		r.door.giveUp(j)
		return r.refused(j, v.err)
	}
	for _, o := range r.waiting {
		o.overtaken = o.overtaken || j.asked > o.asked
		if o.Priority == j.Priority && o.Tenant == j.Tenant && (o.At < j.At || o.At == j.At && o.asked < j.asked) {
			return fmt.Errorf("order: %d starts before %d, which came earlier, of the same priority and tenant", j.ID,
				o.ID)
		}
	}
	j.hold, j.admitted = v.hold, r.now
	r.out.Admitted++
	r.out.Waits = append(r.out.Waits, r.now-j.at)
	r.trace.add(j.ID, uint64(r.now), uint64(v.reused))
	j.uncached = len(j.Tokens) + j.generated - v.reused*r.plan.Gate.BlockSize
	r.running = append(r.running, j)
	r.starts++
	j.level = r.level(j)
	r.started[j.level] = r.starts + 1
	r.engine.start(r, j)
	return nil
}

// level returns the priority of j, lifted by age.
func (r *gateRun) level(j *job) int {
	g := &r.plan.Gate
	if g.Aging == 0 {
		return j.Priority
	}
	return max(j.Priority, min(g.AgingCeiling, j.Priority+int((r.now-j.At)/g.Aging)))
}

// giveWay lets the jobs go that were told to, and ask again with the tokens they have. The job that they gave way to
// starts as soon as they are gone.
func (r *gateRun) giveWay() error {
	for {
		told, err := r.hear()
		if err != nil || len(told) == 0 {
			return err
		}
		for _, j := range told {
			if err := r.release(j); err != nil {
				return err
			}
		}
		for _, j := range told {
			started := slices.ContainsFunc(r.started[j.level+1:], func(last uint64) bool { return last > j.told })
			switch {
			case started:
			case r.plan.Gate.Aging > 0: // one that age had lifted came back between
				r.vain++
			default:
				return fmt.Errorf("preemption: %d of priority %d gave way, and nothing more urgent starts", j.ID,
					j.Priority)
			}
			j.hold, j.told, j.gaveWay = nil, 0, true
			if err := r.ask(j); err != nil {
				return err
			}
		}
	}
}

// hear returns the jobs that were told to give way. Only a strictly more urgent waiter may have told them.
func (r *gateRun) hear() ([]*job, error) {
	told, head := r.told(), r.head()
	for _, j := range told {
		if j.told > 0 {
			continue
		}
		if head == nil || j.level >= head.Priority {
			return nil, fmt.Errorf("preemption: %d of priority %d gives way to nothing more urgent", j.ID, j.level)
		}
		j.told = r.starts + 1
	}
	return told, nil
}

func (r *gateRun) told() (told []*job) {
	for _, j := range r.running {
		if j.hold.Yielding() {
			told = append(told, j)
		}
	}
	return told
}

// head returns the most urgent job that waits, of those the earliest; nil if no job waits.
func (r *gateRun) head() (head *job) {
	for _, j := range r.waiting {
		if head == nil || j.Priority > head.Priority || j.Priority == head.Priority &&
			(j.At < head.At || j.At == head.At && j.asked < head.asked) {
			head = j
		}
	}
	return head
}

// release gives the place of j back.
func (r *gateRun) release(j *job) error {
	r.running = slices.DeleteFunc(r.running, func(o *job) bool { return o == j })
	r.engine.stop(j)
	r.door.giveUp(j)
	j.hold.Release()
	return r.collect()
}

// conserve checks the ledger.
func (r *gateRun) conserve() error {
	s := r.gate.Stats()
	if s.Free+s.Used+s.Reserved != s.Total || min(s.Free, s.Used, s.Reserved) < 0 ||
		s.Running > r.plan.Gate.MaxRunning {
		return fmt.Errorf("%d free + %d used + %d reserved of %d, %d running", s.Free, s.Used, s.Reserved, s.Total,
			s.Running)
	}
	if r.plan.CheckEvery > 0 && r.asked%r.plan.CheckEvery == 0 {
		return r.gate.Check()
	}
	return nil
}

// kept returns when j had what its deadline is of.
func (r *gateRun) kept(j *job) scheduler.Time {
	if r.plan.First {
		return j.first
	}
	return r.now
}

// finish ends j, whose answer is complete.
func (r *gateRun) finish(j *job) error {
	j.gone = true
	r.out.Finished++
	if j.promised {
		r.out.Deadlines++
		if at := r.kept(j); at > j.Deadline {
			r.out.Misses++
		}
	}
	r.trace.add(j.ID, uint64(r.now), uint64(j.generated))
	if err := r.release(j); err != nil {
		return err
	}
	return r.giveWay()
}
