package replay_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"octet/internal/race"
	"octet/internal/replay"
	"octet/routing/plugins"
)

// small draws a trace of a few dozen requests that share prefixes, some of them turns that wait for each other.
func small(dice *rand.Rand) replay.Trace {
	t := replay.Trace{Block: []int{16, 64, 512}[dice.IntN(3)]}
	at, next := time.Duration(0), uint64(1000)
	for range 20 + dice.IntN(40) {
		at += time.Duration(dice.ExpFloat64() * float64(200*time.Millisecond))
		r := replay.Request{At: at, Output: 1 + dice.IntN(60), Blocks: []replay.Span{{Count: 1 + dice.IntN(3)}}}
		if n := len(t.Requests); n > 0 && dice.IntN(3) > 0 {
			before := dice.IntN(n)
			r.Blocks = append([]replay.Span(nil), t.Requests[before].Blocks...)
			if dice.IntN(2) == 0 && !waitedFor(t, before) {
				r.After, r.Gap = before+1, time.Duration(dice.IntN(2000))*time.Millisecond
			}
		}
		grown := 1 + dice.IntN(6)
		r.Blocks = append(r.Blocks, replay.Span{First: next, Count: grown})
		next += uint64(grown)
		blocks := 0
		for _, s := range r.Blocks {
			blocks += s.Count
		}
		r.Input = blocks*t.Block - dice.IntN(t.Block)
		t.Requests = append(t.Requests, r)
	}
	return t
}

func waitedFor(t replay.Trace, i int) bool {
	for _, r := range t.Requests {
		if r.After == i+1 {
			return true
		}
	}
	return false
}

// fleetOf draws a fleet that may be short of memory, slow to decode, and late in what it tells.
func fleetOf(dice *rand.Rand, t replay.Trace) replay.Config {
	c := replay.Default()
	c.Replicas, c.BlockSize = 1+dice.IntN(4), []int{16, t.Block}[dice.IntN(2)]
	c.Blocks = (1 + dice.IntN(40)) * 20 * t.Block / c.BlockSize
	c.Rate, c.Seed = 0.2+4*dice.Float64(), dice.Uint64()
	c.EventDelay = []time.Duration{0, 0, time.Second}[dice.IntN(3)]
	c.Timing.Decode = []time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond}[dice.IntN(3)]
	c.Timing.Prefill = 200 + 4000*dice.Float64()
	c.MaxRunning, c.Budget, c.Chunk = 8+dice.IntN(60), 512, 64+dice.IntN(448)
	c.Goal = replay.Goal{TTFT: time.Duration(dice.IntN(4000)) * time.Millisecond, TPOT: 20 * time.Millisecond}
	c.Faults = replay.Faults{NoEvents: dice.IntN(4) == 0, Lying: dice.IntN(2),
		MetricsDelay: time.Duration(dice.IntN(2)) * time.Second}
	return c
}

// No preset betters the oracle in any figure that it bounds, over random traces and fleets, whether requests wait for
// others or not, and whether memory is short or not.
func TestNoPresetBettersTheOracle(t *testing.T) {
	race.Skip(t)
	dice := rand.New(rand.NewPCG(41, 42))
	for round := range 60 {
		trace := small(dice)
		c := fleetOf(dice, trace)
		best := run(t, c, trace, replay.Contender{Name: "oracle", Oracle: true})
		for _, name := range plugins.Presets() {
			if name == "direct" || name == "disaggregated" || dice.IntN(3) > 0 {
				continue
			}
			r := run(t, c, trace, preset(t, name))
			for what, pair := range map[string][2]float64{
				"mean": {best.TTFT.Mean, r.TTFT.Mean}, "p50": {best.TTFT.P50, r.TTFT.P50},
				"p90": {best.TTFT.P90, r.TTFT.P90}, "p99": {best.TTFT.P99, r.TTFT.P99},
				"makespan": {best.Makespan, r.Makespan}, "tokens/s": {r.Throughput, best.Throughput},
				"good": {r.Goodput, best.Goodput},
			} {
				if pair[0] > pair[1]+1e-6 {
					t.Errorf("round %d, %s: %s of the oracle and the policy are %v and %v", round, name, what, pair[0],
						pair[1])
				}
			}
			if r.Refused != best.Refused {
				t.Errorf("round %d, %s: %d refused, %d by the oracle", round, name, r.Refused, best.Refused)
			}
		}
	}
}

// One replica that computes each block once, alone, is as good as the oracle, to the nanosecond that a step may lose.
func TestTheOracleIsReachedWhereNothingQueues(t *testing.T) {
	c := replay.Default()
	c.Replicas, c.Chunk = 1, 512
	trace := of(
		replay.Request{Input: 1024, Output: 3, Blocks: ids(1, 2)},
		replay.Request{At: 10 * time.Second, Input: 1300, Output: 1, Blocks: ids(1, 2, 3)},
		replay.Request{At: 20 * time.Second, Input: 1500, Output: 1, Blocks: ids(1, 2, 3), After: 2, Gap: time.Second},
	)
	got := run(t, c, trace, preset(t, "default"))
	best := run(t, c, trace, replay.Contender{Oracle: true})
	near(t, "mean", best.TTFT.Mean, got.TTFT.Mean)
	near(t, "p99", best.TTFT.P99, got.TTFT.P99)
	near(t, "hit rate", best.HitRate, got.HitRate)
	if best.Makespan < got.Makespan-3*c.Timing.Decode.Seconds() || best.Makespan > got.Makespan+1e-6 {
		t.Errorf("makespan %v, reached %v", best.Makespan, got.Makespan)
	}
}

// Forty prompts at once on two replicas: nine in ten cannot be served before 36 of them are computed, by any policy.
func TestTheOracleQueuesWhatComesAtOnce(t *testing.T) {
	c := replay.Default()
	c.Replicas = 2
	trace := replay.Trace{Block: replay.TraceBlock}
	for i := range uint64(40) {
		trace.Requests = append(trace.Requests, replay.Request{Input: 512, Output: 1, Blocks: ids(i)})
	}
	best := run(t, c, trace, replay.Contender{Oracle: true})
	near(t, "p90", best.TTFT.P90, 36./2*(512./8000+0.003-1e-9))
	if got := run(t, c, trace, preset(t, "least-load")); got.TTFT.P90 > best.TTFT.P90*1.02 {
		t.Errorf("p90 %v, the bound is %v", got.TTFT.P90, best.TTFT.P90)
	}
}

// A turn that waits may come after another session's request has computed its blocks, however early it could come.
func TestTheOracleKnowsThatAWaitingTurnMayComeLate(t *testing.T) {
	c := replay.Default()
	c.Replicas, c.Timing.Prefill = 1, 1000
	trace := of(
		replay.Request{Input: 8000, Output: 1, Blocks: []replay.Span{{First: 100, Count: 16}}},
		replay.Request{At: 3 * time.Second, Input: 512, Output: 1, Blocks: ids(7), After: 1, Gap: 3 * time.Second},
		replay.Request{At: 4 * time.Second, Input: 2000, Output: 1, Blocks: ids(7, 8, 9, 10)},
	)
	c.Blocks, c.BlockSize, c.Goal.TTFT = 1024, 256, 400*time.Millisecond
	got, best := run(t, c, trace, preset(t, "default")), run(t, c, trace, replay.Contender{Oracle: true})
	if got.Goodput != 1./3 || best.Goodput < got.Goodput {
		t.Errorf("the oracle has %.2f within the goal, a policy %.2f", best.Goodput, got.Goodput)
	}
}
