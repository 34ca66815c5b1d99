package fleet_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/internal/vectors"
	"octet/routing/fleet"
)

// The cases of smg's and gobreaker's circuit breakers, with their own numbers.
func TestBreakerPlaysTheCasesOfOthers(t *testing.T) {
	vectors.Run(t, "breakers.json", vectors.Plays{
		"opens_on_nth_consecutive_failure":    playOpening,
		"half_open_after_timeout":             playLastState("allow"),
		"closes_after_m_successes":            playStates,
		"success_resets_consecutive_failures": playLastState(""),
		"gobreaker_default_trips_above_five":  playDefault,
		"gobreaker_ratio_and_interval":        playRatio,
	})
}

// moment is how long after its time a breaker by a real clock is half-open; gobreaker's tests move a clock by hand.
const moment = time.Nanosecond

// smg is the parameters of smg's cases.
type smg struct {
	Failures  int `json:"failure_threshold"`
	Successes int `json:"success_threshold"`
	TimeoutMS int `json:"timeout_ms"`
}

// goThrough plays what a case does, step by step, and returns the state after each, and whether a request would pass.
func goThrough(t *testing.T, c *vectors.Case) (states []string, admits bool) {
	var given smg
	c.Given(&given)
	timeout := time.Duration(given.TimeoutMS) * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{
			Failures: given.Failures, Probes: given.Successes, OpenFor: timeout}}))
		r := rs[0]
		for _, step := range stepsOf(t, c, timeout+moment) {
			step(r)
			states, admits = append(states, r.State()), r.Admits()
		}
	})
	return states, admits
}

// stepsOf reads "fail x3; wait 150 ms; ok ok"; a wait without a number is as long as the breaker is open.
func stepsOf(t *testing.T, c *vectors.Case, wait time.Duration) (steps []func(r *fleet.Replica)) {
	numbers := vectors.Numbers(c.When)
	for _, word := range strings.Fields(strings.ReplaceAll(c.When, ";", " ")) {
		switch {
		case word == "fail":
			steps = append(steps, func(r *fleet.Replica) { settle(t, r, fleet.Failed) })
		case word == "ok":
			steps = append(steps, func(r *fleet.Replica) { settle(t, r, fleet.Succeeded) })
		case word == "wait" && len(numbers) > 0 && strings.HasSuffix(c.When, "ms"):
			wait = time.Duration(numbers[0]) * time.Millisecond
			fallthrough
		case word == "wait":
			steps = append(steps, func(*fleet.Replica) { time.Sleep(wait) })
		case strings.HasPrefix(word, "x"):
			last := steps[len(steps)-1]
			for range int(numbers[0]) - 1 {
				steps = append(steps, last)
			}
		case word != "ms" && len(vectors.Numbers(word)) == 0:
			t.Fatalf("%q has a step %q", c.When, word)
		}
	}
	return steps
}

func playOpening(t *testing.T, c *vectors.Case) vectors.Got {
	states, admits := goThrough(t, c)
	return vectors.Got{"states": states, "allow": admits}
}

func playStates(t *testing.T, c *vectors.Case) vectors.Got {
	states, _ := goThrough(t, c)
	return vectors.Got{"states": states}
}

func playLastState(allow string) vectors.Play {
	return func(t *testing.T, c *vectors.Case) vectors.Got {
		states, admits := goThrough(t, c)
		got := vectors.Got{"state": states[len(states)-1]}
		if allow != "" {
			got[allow] = admits
		}
		return got
	}
}

func times(n float64, f func()) {
	for range int(n) {
		f()
	}
}

func playDefault(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Trip    string
		Timeout float64 `json:"timeout_s"`
	}
	c.Given(&given)
	n := c.Numbers(4) // failures, failures, seconds, seconds
	above := int(vectors.Numbers(given.Trip)[0])
	got := vectors.Got{}
	synctest.Test(t, func(t *testing.T) {
		_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{
			Failures: above + 1, OpenFor: time.Duration(given.Timeout) * time.Second}}))
		r := rs[0]
		times(n[0], func() { fail(t, r) })
		got["after_5"] = r.State()
		settle(t, r, fleet.Succeeded)
		times(n[1], func() { fail(t, r) })
		got["after_6_in_row"] = r.State()
		time.Sleep(time.Duration(n[2]) * time.Second)
		got["at_59s"] = r.State()
		time.Sleep(time.Duration(n[3])*time.Second + moment)
		got["at_60s"] = r.State()
		settle(t, r, fleet.Succeeded)
		times(float64(above), func() { fail(t, r) }) // with those of before it would have opened
		cleared := r.State() == "closed"
		fail(t, r)
		got["counts_cleared_on_each_transition"] = cleared && r.State() == "open"
	})
	return got
}

func playRatio(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Interval float64 `json:"interval_s"`
		Probes   int     `json:"max_half_open"`
		Trip     string
	}
	c.Given(&given)
	n := c.Numbers(3) // pairs, seconds, seconds
	trip := vectors.Numbers(given.Trip)
	if len(trip) != 2 || n[1] != given.Interval {
		t.Fatalf("trips at %v, in %v s", trip, n[1])
	}
	got := vectors.Got{}
	synctest.Test(t, func(t *testing.T) {
		_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{
			Failures: 1000, MinRequests: int(trip[0]), Ratio: trip[1],
			Window: time.Duration(given.Interval) * time.Second,
			Probes: given.Probes, OpenFor: time.Duration(n[2]) * time.Second}}))
		r, requests, failures := rs[0], 0, 0
		result := func(outcomes ...fleet.Outcome) {
			for _, o := range outcomes {
				settle(t, r, o)
				if requests++; o == fleet.Failed {
					failures++
				}
			}
		}
		times(n[0], func() { result(fleet.Succeeded, fleet.Failed) })
		got["after_10"] = vectors.Says{r.State(), float64(failures) / float64(requests)}
		time.Sleep(time.Duration(n[1])*time.Second + moment)
		result(fleet.Failed, fleet.Succeeded)
		before := r.State()
		result(fleet.Failed)
		got["after_2_of_3_fail"] = r.State()
		// with the results of before the window, the ratio would be too low
		whole := float64(failures) / float64(requests)
		got["window_reset_at_30s"] = before == "closed" && r.State() == "open" && whole < trip[1]
		time.Sleep(time.Duration(n[2])*time.Second + moment)
		result(fleet.Succeeded, fleet.Succeeded)
		third, err := r.Take()
		if err != nil {
			t.Fatal(err)
		}
		got["half_open_fourth_concurrent_call"] = "accepted"
		if _, err := r.Take(); err != nil {
			got["half_open_fourth_concurrent_call"] = "rejected"
		}
		third.Settle(fleet.Succeeded)
		got["after_third_success"] = r.State()
	})
	return got
}
