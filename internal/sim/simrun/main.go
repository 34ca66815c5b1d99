// Command simrun runs the scheduler in virtual time until so many steps and admissions are done, and prints what happened.
// It fails when a promise is broken that internal/sim lists, or a figure is beyond its bound.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"octet/internal/sim"
)

func main() {
	steps := flag.Uint64("steps", 10_000_000, "of all Cores")
	admissions := flag.Uint64("admissions", 6_600_000, "of all Gates; about a sixth of them at each")
	episodes := flag.Uint64("episodes", 2000, "of Retry-After")
	requests := flag.Int("requests", 10_000, "of one run")
	flag.Parse()
	if err := run(*steps, *admissions, *episodes, *requests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(steps, admissions, episodes uint64, requests int) error {
	cores := sim.Cores(requests, runtime.NumCPU())
	began := time.Now()
	cores.Enough = func(sum *sim.Outcome) bool { return sum.Steps >= steps }
	cores.Report = func(sum *sim.Outcome) { progress("core steps", sum.Steps, steps, began) }
	rows, err := cores.Do()
	sim.Print(os.Stdout, "\nCore, step by step", rows)
	if err != nil {
		return err
	}
	gates := sim.Gates(requests, runtime.NumCPU())
	began = time.Now()
	gates.Enough = func(sum *sim.Outcome) bool { return sum.Admitted >= admissions }
	gates.Report = func(sum *sim.Outcome) { progress("admissions", sum.Admitted, admissions, began) }
	rows, err = gates.Do()
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
