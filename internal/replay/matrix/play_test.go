package matrix

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/internal/replay"
	"octet/routing"
	"octet/routing/plugins"
)

var update = flag.Bool("update", false, "write testdata")

// talks is a trace without sessions: so many requests, a second apart, of blocks of 512, every other one known.
func talks(n int) replay.Trace {
	t := replay.Trace{Block: replay.TraceBlock}
	for i := range n {
		t.Requests = append(t.Requests, replay.Request{At: time.Duration(i) * time.Second, Input: 1500, Output: 20,
			Blocks: []replay.Span{{First: uint64(i/2) * 10, Count: 3}}})
	}
	return t
}

func game(t *testing.T, names ...string) *Game {
	t.Helper()
	agents, err := replay.Drawn{Kind: "team", Seed: 1, Sessions: 60}.Trace()
	if err != nil {
		t.Fatal(err)
	}
	g := &Game{Setup: Setup{Config: replay.Default(), Requests: 300}, Parallel: 1,
		Traces: []Trace{{Name: "team:1", Trace: agents}, {Name: "talks", Trace: talks(200), Brief: true}}}
	for _, name := range names {
		spec, ok := plugins.Preset(name)
		if !ok {
			t.Fatalf("no preset %s", name)
		}
		g.Policies = append(g.Policies, replay.Contender{Name: name, Spec: spec})
	}
	return g
}

// The table of a tiny matrix, however many replays run at once.
func TestATinyMatrix(t *testing.T) {
	var tables []string
	for _, parallel := range []int{1, 3} {
		g := game(t, "least-load", "round-robin", "random")
		g.Parallel = parallel
		table := &Table{Game: g, Without: g.Policies}
		replays := 0
		g.Progress = func(int, int) { replays++ }
		cells := Design(g.Traces, map[Group]bool{Base: true, Unknown: true}, 1)
		cells = slices.Concat(cells[4:], cells[1:4], cells[:1]) // a table has its own order of traces and groups
		var err error
		if table.Played, err = g.Play(t.Context(), cells); err != nil {
			t.Fatal(err)
		}
		if replays != 5*4 {
			t.Errorf("%d replays of five cells, three policies and the oracle", replays)
		}
		if table.Left, err = g.Play(t.Context(), Ablation(g.Traces)); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := table.Markdown(&out); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, out.String())
	}
	const golden = "testdata/tiny.md"
	if *update {
		if err := os.WriteFile(golden, []byte(tables[0]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range tables {
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Error(diff)
		}
	}
}

// Load 1 has engines that compute nothing twice busy for 0.7 of the time, whatever the fleet and the engine are.
func TestLoadIsInWork(t *testing.T) {
	g := game(t)
	for i := range g.Traces {
		trace := &g.Traces[i].Trace
		m := meanOf(trace)
		for _, c := range Design(g.Traces, every(), 1) {
			if c.Trace != i {
				continue
			}
			config, part, err := g.config(&c, trace, &m)
			if err != nil {
				t.Fatal(err)
			}
			timing := config.Timing
			sessions, span, _ := part.Sessions()
			busy := m.work.Seconds(&timing) / float64(m.sessions) * float64(sessions) /
				(span.Seconds() / config.Rate) / float64(c.Replicas)
			if want := 0.7 * c.Load; sessions > 10 && math.Abs(busy/want-1) > 0.25 {
				t.Errorf("%s, %s: %d sessions make engines busy for %.2f of the time, want %.2f", g.Traces[i].Name,
					c.String(), sessions, busy, want)
			}
			if most := 1.6 * float64(g.Requests); float64(len(part.Requests)) > most || len(part.Requests) < 10 {
				t.Errorf("%s: %d requests", c.String(), len(part.Requests))
			}
		}
	}
}

// A cell sets up what it says.
func TestACellSetsUpItsFleet(t *testing.T) {
	g := game(t)
	trace := &g.Traces[1].Trace
	m := meanOf(trace)
	for blind, want := range map[Blind]replay.Faults{
		Sees: {}, NoEvents: {NoEvents: true}, LateMetrics: {MetricsDelay: 10 * time.Second}, Liars: {Lying: 8},
	} {
		c := Cell{Trace: 1, Replicas: 32, Pool: 0.25, Decode: 7 * time.Millisecond, Load: 1, Late: time.Second,
			Blind: blind}
		config, _, err := g.config(&c, trace, &m)
		if err != nil || config.Replicas != 32 || config.Blocks != 65536/512/4 || config.BlockSize != 512 ||
			config.Timing.Decode != c.Decode || config.EventDelay != c.Late || config.Faults != want {
			t.Errorf("%v: %+v, %v", blind, config, err)
		}
	}
}

// A base pool holds 32 mean requests, and a quarter of it the largest.
func TestABasePoolHoldsTheTrace(t *testing.T) {
	few := talks(100) // 32 × 1520 tokens
	if got := poolOf(&few); got != 65536 {
		t.Errorf("%d tokens", got)
	}
	few.Requests[5].Input = 100_000
	if got := poolOf(&few); got < 4*100_020 || got > 8*100_020 {
		t.Errorf("with a prompt of 100,000 tokens %d", got)
	}
}

// The first policy's figures are compared with the best of the others, each figure with its own.
func TestTheBestOfTheOthersIsCompared(t *testing.T) {
	result := func(name string, p90, speed float64) replay.Result {
		return replay.Result{Profile: name, TTFT: replay.Spread{P90: p90}, Throughput: speed}
	}
	c := compare(&Played{Results: []replay.Result{result("mine", 1.2, 90), result("slow", 2, 99),
		result("quick", 1, 80)}})
	if c.First.Profile != "quick" || c.Most.Profile != "slow" || c.TTFT != 1.2 || c.Speed != 1.1 || !c.Worse() ||
		c.Better() {
		t.Errorf("%+v", c)
	}
	c = compare(&Played{Results: []replay.Result{result("mine", 0.8, 100), result("other", 1, 104)}})
	if c.Worse() || !c.Better() {
		t.Errorf("%+v", c)
	}
	if c = compare(&Played{Results: []replay.Result{result("alone", 1, 1)}}); c.Worse() || c.Better() {
		t.Errorf("%+v", c)
	}
}

// What cannot be played ends the game, and says which cell it was.
func TestAGameEndsByWhatCannotBePlayed(t *testing.T) {
	g := game(t, "random")
	cells := Design(g.Traces, map[Group]bool{Base: true}, 1)
	g.Policies[0].Spec.Pick = routing.PluginSpec{}
	var faults routing.Faults
	if _, err := g.Play(t.Context(), cells); !errors.As(err, &faults) {
		t.Errorf("a profile without a picker: %v", err)
	}
	g = game(t, "random")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Play(ctx, cells); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	g.Traces[1].Requests = g.Traces[1].Requests[:1]
	if _, err := g.Play(t.Context(), cells); !errors.Is(err, replay.ErrConfig) {
		t.Errorf("a trace that comes at once: %v", err)
	}
}
