package routing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"octet/routing"
)

// script is a Handler that goes by a list, and notes what it was told.
type script struct {
	reads []routing.AnySlot
	ways  []int
	seen  *[][]routing.Cycle
	saw   *int // the slot total, when it was first asked
}

func (s script) Reads() []routing.AnySlot { return s.reads }

func (s script) Pick(v routing.View, earlier []routing.Cycle) (int, string) {
	if len(earlier) == 0 && s.saw != nil {
		*s.saw = total.Get(v)
	}
	*s.seen = append(*s.seen, slices.Clone(earlier))
	if len(earlier) == len(s.ways) {
		return -1, ""
	}
	return s.ways[len(earlier)], "by the script"
}

func ways(t *testing.T) []routing.Way {
	reg := routing.Registry{"best": as(best("best")), "none": as(without("none", 0, 1, 2)),
		"ascending": as(table("ascending", 0, 0.5, 1)), "descending": as(table("descending", 1, 0.5, 0))}
	way := func(name string, filters []string, scorer string) routing.Way {
		s := spec(name, routing.RoleBoth)
		s.Filter, s.Score = named(filters...), []routing.WeightedSpec{weighted(scorer, 1)}
		return routing.Way{Name: name, Workflow: routing.Single(build(t, s, reg))}
	}
	return []routing.Way{way("up", nil, "ascending"), way("down", nil, "descending"),
		way("nowhere", []string{"none"}, "ascending")}
}

// GAIE-02: a handler picks from the request and from what came of earlier cycles, and is asked again until it names no
// further way; the plan is that of the last cycle that gives one.
func TestAHandlerIsAskedUntilNoWayIsLeft(t *testing.T) {
	for name, test := range map[string]struct {
		ways   []int
		first  int // host; -1: no candidate
		taken  int
		cycles int
	}{
		"one":                       {[]int{1}, 0, 1, 1},
		"the last that gives one":   {[]int{1, 0}, 2, 0, 2},
		"none, then one":            {[]int{2, 0}, 2, 0, 2},
		"one, then none":            {[]int{1, 2}, 0, 1, 2},
		"none":                      {[]int{2}, -1, 0, 1},
		"no more cycles than ways":  {[]int{2, 2, 2, 0}, -1, 0, 3},
		"each cycle is a selection": {[]int{0, 1, 0}, 2, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var seen [][]routing.Cycle
			w, err := routing.Handle(script{ways: test.ways, seen: &seen}, ways(t)...)
			if err != nil {
				t.Fatal(err)
			}
			c := request(t, 3)
			c.EnableTrace(nil)
			plan, err := w.Plan(context.Background(), c)
			if test.first < 0 {
				if !errors.Is(err, routing.ErrNoCandidate) || len(plan.Steps) != 0 {
					t.Errorf("%+v, %v", plan, err)
				}
			} else if err != nil || int(plan.Steps[0].Ranked[0].Host) != test.first || c.Way() != test.taken {
				t.Errorf("way %d to %+v, %v", c.Way(), plan.Steps, err)
			}
			told := c.AppendSelections(nil)
			if len(told) != test.cycles {
				t.Fatalf("%d selections", len(told))
			}
			for i, leg := range told {
				if leg.Way != []string{"up", "down", "nowhere"}[test.ways[i]] || leg.Why != "by the script" {
					t.Errorf("selection %d: %q, %q", i, leg.Way, leg.Why)
				}
			}
			for i, earlier := range seen {
				if len(earlier) != i || i > 0 && (earlier[i-1].Way != test.ways[i-1] ||
					(earlier[i-1].Err == nil) != (test.ways[i-1] != 2)) {
					t.Errorf("asked for cycle %d with %+v", i, earlier)
				}
			}
		})
	}
}

// GAIE-02: what a handler reads is prepared before it is asked, once for all ways, and for a single candidate too.
func TestWhatAHandlerReadsIsPreparedOnce(t *testing.T) {
	for _, n := range []int{1, 3} {
		runs, saw, seen := 0, 0, [][]routing.Cycle(nil)
		counts := fakePreparer{fake{name: "counts", writes: []routing.AnySlot{total}},
			func(_ context.Context, c *routing.Context) error {
				runs++
				total.Put(c, 42)
				return nil
			}}
		reg := routing.Registry{"best": as(best("best")), "counts": as(counts), "reader": as(reader("reader", total))}
		s := spec("counted", routing.RoleBoth)
		s.Prepare, s.Score = named("counts"), []routing.WeightedSpec{weighted("reader", 1)}
		s.Wanted, s.AlwaysPrepare = []routing.AnySlot{total}, true
		one, two := routing.Single(build(t, s, reg)), routing.Single(build(t, s, reg))
		h := script{reads: []routing.AnySlot{total}, ways: []int{1}, seen: &seen, saw: &saw}
		w, err := routing.Handle(h, routing.Way{Name: "one", Workflow: one}, routing.Way{Name: "two", Workflow: two})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Plan(context.Background(), request(t, n)); err != nil || saw != 42 || runs != 1 {
			t.Errorf("of %d: %v, saw %d, prepared %d times", n, err, saw, runs)
		}
	}
	_, err := routing.Handle(script{reads: []routing.AnySlot{total}}, ways(t)...)
	if !errors.Is(err, routing.ErrWorkflow) {
		t.Errorf("a slot that nothing prepares: %v", err)
	}
	if _, err = routing.Handle(script{}); !errors.Is(err, routing.ErrWorkflow) {
		t.Errorf("no way: %v", err)
	}
}
