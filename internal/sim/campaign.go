package sim

import (
	"fmt"
	"sync"
)

// Row is all the runs of one plan.
type Row struct {
	Name  string
	Seeds int
	Outcome
	Late   uint64
	Oracle Verdict
	Vain   uint64
	EDF    uint64 // requests that EDF serves by their deadline
	Trace  uint64 // over the traces of the seeds, in order
}

// add puts the next seed's outcome behind those before.
func (row *Row) add(o *GateOutcome) {
	row.Seeds++
	row.Trace = mix(row.Trace, o.Outcome.Trace)
	row.Steps += o.Steps
	row.Asked += o.Asked
	row.Admitted += o.Admitted
	row.Finished += o.Finished
	row.Cancelled += o.Cancelled
	row.Aborted += o.Aborted
	row.Preempted += o.Preempted
	row.Snapshots += o.Snapshots
	row.Restores += o.Restores
	row.Plain += o.Plain
	row.Deadlines += o.Deadlines
	row.Misses += o.Misses
	row.Late += o.Late
	row.Vain += o.Vain
	row.EDF += o.EDF
	row.Oracle.Refused += o.Oracle.Refused
	row.Oracle.Wrongly += o.Oracle.Wrongly
	row.Waits = append(row.Waits, o.Waits...)
	for reason, n := range o.Refused {
		row.Refused[reason] += n
	}
}

// Campaign runs every plan under seed after seed, all plans in each round, until enough says so of the sum so far.
// The rows do not depend on workers. It ends with the round in which a promise was broken.
type Campaign struct {
	Names   []string
	Run     runner
	Workers int
	Again   uint64 // every so many rounds one is run twice, and must leave the same traces; 0 is never
	Other   runner // runs the second time; without it Run does
	Enough  func(sum *Outcome) bool
	Report  func(sum *Outcome) // after each round; may be nil
}

// runner runs one plan under one seed.
type runner func(plan int, seed uint64) (GateOutcome, error)

// Do returns a row for each plan.
func (c *Campaign) Do() ([]Row, error) {
	rows := make([]Row, len(c.Names))
	for i, name := range c.Names {
		rows[i] = Row{Name: name, Outcome: Outcome{Refused: map[string]int{}}}
	}
	var sum Outcome
	for seed := uint64(1); !c.Enough(&sum); seed++ {
		outcomes, errs := c.round(c.Run, seed)
		if c.Again > 0 && seed%c.Again == 0 {
			other := c.Other
			if other == nil {
				other = c.Run
			}
			again, _ := c.round(other, seed)
			c.compare(seed, outcomes, again, errs)
		}
		for i := range outcomes {
			sum.Steps += outcomes[i].Steps
			sum.Admitted += outcomes[i].Admitted
			rows[i].add(&outcomes[i])
			if errs[i] != nil {
				return rows, errs[i]
			}
		}
		if c.Report != nil {
			c.Report(&sum)
		}
	}
	return rows, nil
}

// compare notes an error where the second run of a plan left another trace than the first, and the first none.
func (c *Campaign) compare(seed uint64, first, again []GateOutcome, errs []error) {
	for i := range first {
		if a, b := first[i].Outcome.Trace, again[i].Outcome.Trace; a != b && errs[i] == nil {
			errs[i] = fmt.Errorf("%s, seed %d: trace %016x, and %016x the second time", c.Names[i], seed, a, b)
		}
	}
}

// round runs every plan once.
func (c *Campaign) round(run runner, seed uint64) ([]GateOutcome, []error) {
	outcomes, errs := make([]GateOutcome, len(c.Names)), make([]error, len(c.Names))
	plans := make(chan int, len(c.Names)) // all of them, so that filling it never blocks
	for i := range c.Names {
		plans <- i
	}
	close(plans)
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(func() {
			for i := range plans {
				outcomes[i], errs[i] = run(i, seed)
			}
		})
	}
	workers.Wait()
	return outcomes, errs
}

// Cores is the campaign of all loads of a Core.
func Cores(requests, workers int) Campaign {
	plans := CorePlans(requests)
	c := Campaign{Workers: workers, Run: func(plan int, seed uint64) (GateOutcome, error) {
		o, err := RunCore(&plans[plan], seed)
		return GateOutcome{Outcome: o}, err
	}}
	for i := range plans {
		c.Names = append(c.Names, plans[i].Name)
	}
	return c
}

// Gates is the campaign of all loads of a Gate. A second run drives the Model itself.
func Gates(requests, workers int) Campaign {
	plans := GatePlans(requests)
	c := Campaign{Workers: workers,
		Run:   func(plan int, seed uint64) (GateOutcome, error) { return RunGate(&plans[plan], seed) },
		Other: func(plan int, seed uint64) (GateOutcome, error) { return RunModel(&plans[plan], seed) }}
	for i := range plans {
		c.Names = append(c.Names, plans[i].Name)
	}
	return c
}
