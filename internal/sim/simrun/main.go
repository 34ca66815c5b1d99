// Command simrun runs the scheduler in virtual time until so many steps and admissions are done, and prints what
// happened. It fails when a promise is broken that internal/sim lists, or a figure is beyond its bound.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"octet/internal/sim"
)

// again is how often a round is run twice: one in so many.
const again = 10

func main() {
	steps := flag.Uint64("steps", 10_000_000, "of all Cores; 0 is no Core")
	admissions := flag.Uint64("admissions", 6_600_000, "of all Gates; about a sixth of them at each; 0 is no Gate")
	episodes := flag.Uint64("episodes", 2000, "of Retry-After at a Gate")
	requests := flag.Int("requests", 10_000, "of one run")
	flag.Parse()
	err := cores(*steps, *requests)
	if err == nil && *admissions > 0 {
		err = gates(*admissions, *episodes, *requests)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func cores(steps uint64, requests int) error {
	c := sim.Cores(requests, runtime.NumCPU())
	began := time.Now()
	c.Again = again
	c.Enough = func(sum *sim.Outcome) bool { return sum.Steps >= steps }
	c.Report = func(sum *sim.Outcome) { progress("core steps", sum.Steps, steps, began) }
	rows, err := c.Do()
	sim.Print(os.Stdout, "\nCore, step by step", rows)
	return err
}

func gates(admissions, episodes uint64, requests int) error {
	c := sim.Gates(requests, runtime.NumCPU())
	began := time.Now()
	c.Again = again
	c.Enough = func(sum *sim.Outcome) bool { return sum.Admitted >= admissions }
	c.Report = func(sum *sim.Outcome) { progress("admissions", sum.Admitted, admissions, began) }
	rows, err := c.Do()
	sim.Print(os.Stdout, "\nGate, before an engine that batches itself", rows)
	if err != nil {
		return err
	}
	retries, err := comeBack(episodes)
	if err != nil {
		return err
	}
	figures := sim.Figures(rows, &retries)
	sim.PrintFigures(os.Stdout, figures)
	for i := range figures {
		if !figures[i].Holds() {
			return fmt.Errorf("%s: %.3f %%, more than %g %%", figures[i].What, figures[i].Measured, figures[i].Most)
		}
	}
	return nil
}

func comeBack(episodes uint64) (all sim.Retries, err error) {
	plan := sim.RetryPlan()
	for seed := range episodes {
		one, err := sim.RunRetries(&plan, seed)
		if err != nil {
			return all, err
		}
		all.Add(one)
	}
	return all, nil
}

func progress(what string, done, of uint64, began time.Time) {
	fmt.Fprintf(os.Stderr, "\r%d of %d %s, %.0f a second   ", done, of, what, float64(done)/time.Since(began).Seconds())
}
