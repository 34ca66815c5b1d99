package replay_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/internal/race"
	"octet/internal/replay"
	"octet/routing"
	"octet/routing/plugins"
)

// shape is a synthetic load: conversations whose prompts grow, behind system prompts that they share.
type shape struct {
	requests      int
	gap           time.Duration // mean between arrivals
	systems       int           // system prompts
	system, turn  int           // blocks
	output        int           // tokens at most
	conversations int           // open at once
}

func (s shape) trace(seed uint64) replay.Trace {
	dice := rand.New(rand.NewPCG(seed, 1))
	all := replay.Trace{Block: replay.TraceBlock}
	open := make([][]uint64, s.conversations)
	at, id := time.Duration(0), uint64(1000)
	for range s.requests {
		at += time.Duration(dice.ExpFloat64() * float64(s.gap))
		talk := &open[dice.IntN(len(open))]
		if len(*talk) == 0 || dice.IntN(5) == 0 {
			*talk = nil
			first := uint64(dice.IntN(s.systems) * s.system)
			for i := range uint64(s.system) {
				*talk = append(*talk, first+i)
			}
		}
		for range 1 + dice.IntN(2*s.turn) {
			*talk = append(*talk, id)
			id++
		}
		all.Requests = append(all.Requests, replay.Request{
			At: at, Input: len(*talk)*replay.TraceBlock - dice.IntN(500), Output: 1 + dice.IntN(s.output),
			Blocks:  ids(*talk...),
			Session: fmt.Sprint((*talk)[s.system]),
		})
	}
	return all
}

// ids returns the blocks with these ids.
func ids(all ...uint64) (spans []replay.Span) {
	for _, id := range all {
		spans = append(spans, replay.Span{First: id, Count: 1})
	}
	return spans
}

// first returns the first n requests of a trace.
func first(t replay.Trace, n int) replay.Trace {
	t.Requests = t.Requests[:n]
	return t
}

// of returns a trace of these requests.
func of(all ...replay.Request) replay.Trace {
	return replay.Trace{Block: replay.TraceBlock, Requests: all}
}

var busy = shape{requests: 700, gap: 130 * time.Millisecond, systems: 6, system: 4, turn: 4, output: 300,
	conversations: 60}

func preset(t testing.TB, name string) replay.Contender {
	t.Helper()
	spec, ok := plugins.Preset(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	return replay.Contender{Name: name, Spec: spec}
}

func run(t testing.TB, c replay.Config, trace replay.Trace, by replay.Contender) replay.Result {
	t.Helper()
	r, err := replay.Run(t.Context(), c, trace, by)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheSameSeedGivesTheSameFigures(t *testing.T) {
	race.Skip(t)
	trace := busy.trace(1)
	for _, name := range plugins.Presets() {
		if name == "direct" || name == "disaggregated" {
			continue // these want a replica or a workflow that no trace has
		}
		figures := func() string {
			r := run(t, replay.Default(), first(trace, 150), preset(t, name))
			r.Decision = 0
			return fmt.Sprintf("%+v", r)
		}
		if a, b := figures(), figures(); a != b {
			t.Errorf("%s:\n%s\n%s", name, a, b)
		}
	}
}

// MOD2-40: where no replica has slower tiers, no decision changes by weighing them.
func TestWeighingTiersChangesNothingWhereThereAreNone(t *testing.T) {
	trace := first(busy.trace(3), 250)
	for _, name := range []string{"default", "cache-aware", "dynamo-kv", "epp-default"} {
		figures := func(tiers bool) string {
			by := preset(t, name)
			if !tiers {
				by.Spec.Prepare = slices.DeleteFunc(by.Spec.Prepare, func(p routing.PluginSpec) bool {
					return p.Name == "tier-depths"
				})
			}
			if tiers != slices.ContainsFunc(by.Spec.Prepare, func(p routing.PluginSpec) bool {
				return p.Name == "tier-depths"
			}) {
				t.Fatalf("%s does not weigh tiers", name)
			}
			r := run(t, replay.Default(), trace, by)
			r.Decision = 0
			return fmt.Sprintf("%+v", r)
		}
		if a, b := figures(true), figures(false); a != b {
			t.Errorf("%s:\n%s\n%s", name, a, b)
		}
	}
}

// The figures of a single request and of two in a row can be worked out by hand.
func TestOneReplicaTakesTheTimeThatItsStepsTake(t *testing.T) {
	c := replay.Default()
	c.Replicas = 1
	c.Timing = replay.Timing{Prefill: 1000, Step: 10 * time.Millisecond, Decode: 5 * time.Millisecond}
	trace := of(
		replay.Request{Input: 1024, Output: 3, Blocks: ids(1, 2)},
		replay.Request{At: 10 * time.Second, Input: 1030, Output: 1, Blocks: ids(1, 2, 3)},
	)
	r := run(t, c, trace, preset(t, "round-robin"))
	first, second := 2*(0.512+0.010), 0.006+0.010
	near(t, "TTFT", r.TTFT.Mean, (first+second)/2)
	near(t, "ITL", r.ITL.Mean, 0.015)
	near(t, "hit rate", r.HitRate, 1024.0/2054)
	near(t, "throughput", r.Throughput, 4/(10+second))
	near(t, "makespan", r.Makespan, 10+second)
	if r.Goodput != 1 || r.Imbalance != 1 || r.Refused != 0 || r.Requests != 2 {
		t.Errorf("%+v", r)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A replay is worth believing only if it ranks what all published comparisons rank alike: chance, then load, then cache
// and load, then a cache that forgets nothing. DYN-22
func TestPoliciesRankAsTheyDoElsewhere(t *testing.T) {
	race.Skip(t)
	for seed := range uint64(2) {
		trace := busy.trace(seed)
		mean := func(name string, endless bool) float64 {
			by := preset(t, name)
			by.Endless = endless
			return run(t, replay.Default(), trace, by).TTFT.Mean
		}
		random, load := mean("random", false), mean("least-load", false)
		best, endless := mean("default", false), mean("default", true)
		if random < 1.3*load || load < 1.4*best || best < endless {
			t.Errorf("seed %d: random %.2f, least load %.2f, default %.2f, endless %.2f s", seed, random, load, best,
				endless)
		}
	}
}

// TestTheDefaultHasTheShortestTail compares p90 at equal load, over loads that nothing was tuned to.
func TestTheDefaultHasTheShortestTail(t *testing.T) {
	race.Skip(t)
	peers := []string{"dynamo-kv", "epp-default", "consistent-hash", "cache-aware", "least-load", "round-robin",
		"random"}
	for name, s := range map[string]shape{
		"conversations": busy,
		"long prompts": {requests: 300, gap: 400 * time.Millisecond, systems: 40, system: 2, turn: 14, output: 100,
			conversations: 30},
		"one system": {requests: 700, gap: 110 * time.Millisecond, systems: 1, system: 12, turn: 3, output: 200,
			conversations: 200},
		"nothing reused": {requests: 700, gap: 150 * time.Millisecond, systems: 1, system: 0, turn: 8, output: 200,
			conversations: 1500},
	} {
		trace := s.trace(9)
		best := run(t, replay.Default(), trace, preset(t, "default"))
		t.Logf("%-16s default %.2f, hit %.3f, imbalance %.2f", name, best.TTFT.P90, best.HitRate, best.Imbalance)
		for _, peer := range peers {
			r := run(t, replay.Default(), trace, preset(t, peer))
			t.Logf("%-16s %s %.2f, hit %.3f", name, peer, r.TTFT.P90, r.HitRate)
			if r.TTFT.P90 < best.TTFT.P90 {
				t.Errorf("%s: p90 of %s is %.2f s, of the default %.2f", name, peer, r.TTFT.P90, best.TTFT.P90)
			}
		}
	}
}

// MOD2-52: how often the picked replica has the predicted part of the prompt when it computes it, by how late cache
// events are. Lateness costs a known share: what was evicted meanwhile, and, of what was just computed, what is not
// predicted at all. Memory is short, so that blocks are evicted all the time. README.md has the figures.
func TestPredictionsAreKeptThoughEventsAreLate(t *testing.T) {
	trace := busy.trace(52)
	c := replay.Default()
	c.Blocks, c.PredictTTL = 200, 0 // by events alone
	before := 1.0
	for _, row := range []struct {
		late time.Duration
		kept float64 // at least
	}{{0, 0.99}, {100 * time.Millisecond, 0.99}, {time.Second, 0.96}, {5 * time.Second, 0.9}} {
		c.EventDelay = row.late
		got := run(t, c, trace, preset(t, "default"))
		t.Logf("%v late: %d predicted, %.1f %% kept, hit rate %.1f %%", row.late, got.Predicted, 100*got.Kept,
			100*got.HitRate)
		if got.Predicted < 100 || got.Kept < row.kept || got.Kept > before+0.01 {
			t.Errorf("%v late: %d predicted, %.3f kept, want %.2f to %.3f", row.late, got.Predicted, got.Kept, row.kept,
				before)
		}
		before = got.Kept
	}
}

func TestDelayedEventsCostLittle(t *testing.T) {
	trace := busy.trace(2)
	c := replay.Default()
	c.PredictTTL = 0
	now := run(t, c, trace, preset(t, "default"))
	c.EventDelay = time.Second
	late := run(t, c, trace, preset(t, "default"))
	if late.HitRate > now.HitRate || late.HitRate < now.HitRate-0.05 {
		t.Errorf("hit rate %.3f at once, %.3f a second late", now.HitRate, late.HitRate)
	}
}

func TestWhatDoesNotFitIsRefusedAndCounted(t *testing.T) {
	c := replay.Default()
	c.Blocks = 4
	trace := of(replay.Request{Input: 5000, Output: 1, Blocks: ids(make([]uint64, 10)...)},
		replay.Request{Input: 100, Output: 2, Blocks: ids(3)})
	r := run(t, c, trace, preset(t, "default"))
	if r.Refused != 1 || r.Goodput != 0.5 {
		t.Errorf("%+v", r)
	}
}

func TestCapacityIsWhereTheGoalIsMissed(t *testing.T) {
	trace := first(busy.trace(3), 200)
	c := replay.Default()
	c.Replicas = 4
	rate, err := replay.Capacity(t.Context(), c, trace, preset(t, "default"))
	if err != nil || rate <= 0 {
		t.Fatal(rate, err)
	}
	p90 := func(rate float64) float64 {
		c := c
		c.Rate = rate
		return run(t, c, trace, preset(t, "default")).TTFT.P90
	}
	if at, over := p90(rate), p90(rate*1.2); at > 5 || over <= 5 {
		t.Errorf("capacity %.3f: p90 %.2f s there, %.2f s above", rate, at, over)
	}
	c.Goal.TTFT = time.Nanosecond
	if rate, err := replay.Capacity(t.Context(), c, first(trace, 20), preset(t, "random")); err != nil || rate != 0 {
		t.Errorf("a goal that cannot be met: %v, %v", rate, err)
	}
}

func TestImpossibleReplaysAreErrors(t *testing.T) {
	trace := of(replay.Request{Input: 5, Output: 1, Blocks: ids(1)})
	for name, change := range map[string]func(*replay.Config){
		"no replica":    func(c *replay.Config) { c.Replicas = 0 },
		"too many":      func(c *replay.Config) { c.Replicas = 100000 },
		"no block":      func(c *replay.Config) { c.Blocks = 0 },
		"no rate":       func(c *replay.Config) { c.Rate = math.NaN() },
		"early events":  func(c *replay.Config) { c.EventDelay = -1 },
		"no prediction": func(c *replay.Config) { c.PredictTTL = -1 },
		"small budget":  func(c *replay.Config) { c.Budget = 1 },
		"no time":       func(c *replay.Config) { c.Timing = replay.Timing{} },
		"large chunk":   func(c *replay.Config) { c.Chunk = 1 << 20 },
		"endless steps": func(c *replay.Config) { c.Timing.Prefill = 1e-300 },
	} {
		c := replay.Default()
		change(&c)
		if _, err := replay.Run(t.Context(), c, trace, preset(t, "default")); !errors.Is(err, replay.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := replay.Run(t.Context(), replay.Default(), trace,
		replay.Contender{Name: "x", Spec: routing.ProfileSpec{Name: "x"}})
	var faults routing.Faults
	if !errors.As(err, &faults) {
		t.Errorf("a profile without a picker: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Run(ctx, replay.Default(), trace, preset(t, "default")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestThePlotNamesEveryProfile(t *testing.T) {
	trace := first(busy.trace(4), 50)
	results := []replay.Result{run(t, replay.Default(), trace, preset(t, "default")),
		run(t, replay.Default(), trace, preset(t, "random"))}
	results[1].Profile = "<&>"
	var b strings.Builder
	if err := replay.WriteSVG(&b, "a < b", 5, append(results, replay.Result{Profile: "empty"})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg ", "default", "&lt;&amp;&gt;", "a &lt; b", "empty", "</svg>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("a coordinate is no number")
	}
}

func BenchmarkReplay(b *testing.B) {
	trace := busy.trace(1)
	for _, name := range []string{"default", "dynamo-kv", "random"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				run(b, replay.Default(), trace, preset(b, name))
			}
			b.ReportMetric(float64(b.N*len(trace.Requests))/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
