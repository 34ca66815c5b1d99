package routing_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
	"octet/routing/index"
)

// MOD3-01, GAIE-01, GAIE-07: the stages run in their order, each plugin once.
func TestADecisionGoesPrepareFilterScorePick(t *testing.T) {
	var ran []string
	note := func(what string) { ran = append(ran, what) }
	p := build(t, routing.ProfileSpec{
		Name: "p", Prepare: named("p1", "p2"), Filter: named("f1", "f2"), Pick: routing.PluginSpec{Name: "pick"},
		Score: []routing.WeightedSpec{weighted("s1", 1), weighted("s2", 1)}, Wanted: slots(label),
	}, routing.Registry{
		"p1": as(fakePreparer{fake{name: "p1", writes: slots(total)},
			func(context.Context, *routing.Context) error { note("p1"); return nil }}),
		"p2": as(fakePreparer{fake{name: "p2", reads: slots(total), writes: slots(label)},
			func(context.Context, *routing.Context) error { note("p2"); return nil }}),
		"f1": as(fakeFilter{fake{name: "f1"},
			func(_ routing.View, in index.HostBitmap) index.HostBitmap { note("f1"); return in }}),
		"f2": as(fakeFilter{fake{name: "f2"},
			func(_ routing.View, in index.HostBitmap) index.HostBitmap { note("f2"); return in }}),
		"s1": as(fakeScorer{fake{name: "s1"}, func(routing.View, []index.HostID, []float64) { note("s1") }}),
		"s2": as(fakeScorer{fake{name: "s2"}, func(routing.View, []index.HostID, []float64) { note("s2") }}),
		"pick": as(fakePicker{fake{name: "pick"},
			func(_ routing.View, s []routing.Scored) []routing.Scored { note("pick"); return s }}),
	})
	if _, err := p.Select(t.Context(), request(t, 3)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ran, " "); got != "p1 p2 f1 f2 s1 s2 pick" {
		t.Errorf("ran %s", got)
	}
}

// chain is a registry where "double" is behind "count", and counts how often they ran.
func chain(counts map[string]int) routing.Registry {
	return routing.Registry{
		"count": as(fakePreparer{fake{name: "count", writes: slots(total)},
			func(_ context.Context, c *routing.Context) error {
				counts["count"]++
				total.Put(c, 21)
				return nil
			}}),
		"double": as(fakePreparer{fake{name: "double", reads: slots(total), writes: slots(label)},
			func(_ context.Context, c *routing.Context) error {
				counts["double"]++
				return nil // it may leave its slot unwritten
			}}),
		"fit": as(fakeFilter{fake{name: "fit", reads: slots(total)},
			func(v routing.View, in index.HostBitmap) index.HostBitmap {
				counts["fit"]++
				return in
			}}),
		"score": as(fakeScorer{fake{name: "score", reads: slots(label)},
			func(routing.View, []index.HostID, []float64) { counts["score"]++ }}),
		"best": as(best("best")),
	}
}

// MOD3-02, MOD3-04, MOD3-38, MOD3-41: two Selectors over one Context, and still each Preparer runs once.
func TestPreparersRunOncePerRequest(t *testing.T) {
	counts := map[string]int{}
	spec := routing.ProfileSpec{Name: "p", Prepare: named("count", "double"), Pick: routing.PluginSpec{Name: "best"},
		Score: []routing.WeightedSpec{weighted("score", 1)}}
	p, second := build(t, spec, chain(counts)), build(t, spec, chain(counts))
	c := request(t, 64)
	for _, s := range []routing.Selector{p, second} {
		if d, err := s.Select(t.Context(), c); err != nil || len(d.Ranked) != 64 {
			t.Fatal(d, err)
		}
	}
	if counts["count"] != 1 || counts["double"] != 1 || counts["score"] != 2 {
		t.Errorf("%v", counts)
	}
}

func TestASecondSelectLeavesTheFirstDecisionAlone(t *testing.T) {
	up := build(t, routing.ProfileSpec{Name: "up", Score: []routing.WeightedSpec{weighted("up", 1)},
		Pick: routing.PluginSpec{Name: "best"}},
		routing.Registry{"up": as(table("up", 0, .5, 1)), "best": as(best("best"))})
	down := build(t, routing.ProfileSpec{Name: "down", Score: []routing.WeightedSpec{weighted("down", 1)},
		Pick: routing.PluginSpec{Name: "best"}},
		routing.Registry{"down": as(table("down", 1, .5, 0)), "best": as(best("best"))})
	c := request(t, 3)
	first, _ := up.Select(t.Context(), c)
	before := slices.Clone(first.Ranked)
	if d, _ := down.Select(t.Context(), c); d.Ranked[0].Host != 0 {
		t.Errorf("the second picked %v", d.Ranked[0])
	}
	if !slices.Equal(before, first.Ranked) || first.Ranked[0].Host != 2 {
		t.Errorf("the first decision became %v", first.Ranked)
	}
}

// A single replica pays for nothing but what filters, pickers and, if asked for, the caller read.
func TestASingleCandidateIsCheap(t *testing.T) {
	for name, test := range map[string]struct {
		always bool
		filter []routing.PluginSpec
		hosts  int
		want   map[string]int
	}{
		"one candidate": {hosts: 1, want: map[string]int{}},
		"one candidate, a filter reads": {hosts: 1, filter: named("fit"),
			want: map[string]int{"count": 1, "fit": 1}},
		"one candidate, the caller must read": {hosts: 1, always: true, want: map[string]int{"count": 1, "double": 1}},
		"two candidates":                      {hosts: 2, want: map[string]int{"count": 1, "double": 1, "score": 1}},
		"two candidates of which one is left": {hosts: 2, filter: named("drop"),
			want: map[string]int{"count": 1, "double": 1}},
		"no candidate pays for nothing at all": {hosts: 0, always: true, filter: named("fit"), want: map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			counts := map[string]int{}
			reg := chain(counts)
			reg["drop"] = as(without("drop", 0))
			p := build(t, routing.ProfileSpec{Name: "p", Prepare: named("count", "double"), Filter: test.filter,
				Score: []routing.WeightedSpec{weighted("score", 1)}, Pick: routing.PluginSpec{Name: "best"},
				Wanted: slots(label), AlwaysPrepare: test.always}, reg)
			d, err := p.Select(t.Context(), request(t, test.hosts))
			if (err == nil) != (test.hosts > 0) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, counts); diff != "" {
				t.Error(diff)
			}
			if err == nil && d.Eligible.Count() != len(d.Ranked) {
				t.Errorf("decision %+v", d)
			}
		})
	}
}

// GAIE-08
func TestWhenNoneIsLeftTheErrorNamesTheFilter(t *testing.T) {
	scored := false
	p := build(t, routing.ProfileSpec{Name: "p", Filter: named("a", "b", "c", "d"),
		Pick:  routing.PluginSpec{Name: "best"},
		Score: []routing.WeightedSpec{weighted("s", 1)},
	}, routing.Registry{
		"a": as(without("a", 0, 1)), "b": as(keepAll("b")), "c": as(without("c", 2, 3, 4)), "d": as(without("d", 0)),
		"s":    as(fakeScorer{fake{name: "s"}, func(routing.View, []index.HostID, []float64) { scored = true }}),
		"best": as(best("best")),
	})
	_, err := p.Select(t.Context(), request(t, 5))
	var none *routing.NoCandidateError
	if !errors.Is(err, routing.ErrNoCandidate) || !errors.As(err, &none) || none.Filter != "c" || none.Removed != 3 {
		t.Errorf("error is %v", err)
	}
	if err.Error() != "routing: no candidate: c removed the last 3, a 2 before" {
		t.Errorf("people read %q", err)
	}
	if scored {
		t.Error("scored all the same")
	}
	_, err = p.Select(t.Context(), request(t, 0))
	if !errors.As(err, &none) || none.Filter != "" || none.Removed != 0 {
		t.Errorf("without candidates the error is %v", err)
	}
}

func TestAFilterCannotAddCandidates(t *testing.T) {
	p := build(t, routing.ProfileSpec{Name: "p", Filter: named("greedy"), Pick: routing.PluginSpec{Name: "best"}},
		routing.Registry{
			"greedy": as(fakeFilter{fake{name: "greedy"},
				func(routing.View, index.HostBitmap) index.HostBitmap { return hosts(256) }}),
			"best": as(best("best")),
		})
	if d, err := p.Select(t.Context(), request(t, 3)); err != nil || d.Eligible != hosts(3) || len(d.Ranked) != 3 {
		t.Errorf("%+v, %v", d, err)
	}
}

// GAIE-10, MOD3-08, MOD3-09: 0.8 × 2 + 0.5 × 1.
func TestTheFinalScoreIsTheWeightedSum(t *testing.T) {
	p := build(t, routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "best"},
		Score: []routing.WeightedSpec{weighted("a", 2), weighted("b", 1)},
	}, routing.Registry{"a": as(table("a", 0.8, 0)), "b": as(table("b", 0.5, 1)), "best": as(best("best"))})
	d, err := p.Select(t.Context(), request(t, 2))
	if err != nil || d.Ranked[0] != (routing.Scored{Host: 0, Score: 2.1}) || d.Ranked[1].Score != 1 {
		t.Errorf("%+v, %v", d.Ranked, err)
	}
}

// GAIE-09
func TestScoresOutOfRangeAreClampedAndCounted(t *testing.T) {
	p := build(t, routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "best"},
		Score: []routing.WeightedSpec{weighted("wild", 3)}},
		routing.Registry{"wild": as(table("wild", 2, -1, math.NaN(), math.Inf(1), math.Inf(-1), 0.5, 0, 1)),
			"best": as(fakePicker{
				fake{name: "best"}, func(_ routing.View, s []routing.Scored) []routing.Scored { return s }})})
	d, err := p.Select(t.Context(), request(t, 8))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{3, 0, 0, 3, 0, 1.5, 0, 3} {
		if d.Ranked[i].Score != want {
			t.Errorf("host %d: %g, want %g", i, d.Ranked[i].Score, want)
		}
	}
	if s := p.Stats(); s[0].Plugin != "wild" || s[0].OutOfRange != 5 {
		t.Errorf("%+v", s)
	}
}

func TestAPanicFailsItsOwnRequestOnly(t *testing.T) {
	for _, stage := range []string{"prepare", "filter", "score", "pick"} {
		t.Run(stage, func(t *testing.T) {
			bad := stage
			boom := func(at string) {
				if at == bad {
					panic("boom at " + at)
				}
			}
			p := build(t, routing.ProfileSpec{Name: "p", Prepare: named("prepare"), Filter: named("filter"),
				Score: []routing.WeightedSpec{weighted("score", 1)}, Pick: routing.PluginSpec{Name: "pick"},
				Wanted: slots(total),
			}, routing.Registry{
				"prepare": as(fakePreparer{fake{name: "prepare", writes: slots(total)},
					func(context.Context, *routing.Context) error { boom("prepare"); return nil }}),
				"filter": as(fakeFilter{fake{name: "filter"},
					func(_ routing.View, in index.HostBitmap) index.HostBitmap { boom("filter"); return in }}),
				"score": as(fakeScorer{fake{name: "score"},
					func(routing.View, []index.HostID, []float64) { boom("score") }}),
				"pick": as(fakePicker{fake{name: "pick"},
					func(_ routing.View, s []routing.Scored) []routing.Scored { boom("pick"); return s }}),
			})
			d, err := p.Select(t.Context(), request(t, 2))
			var panicked *routing.PluginPanicError
			if !errors.As(err, &panicked) || panicked.Plugin != stage || panicked.Value != "boom at "+stage ||
				!strings.Contains(string(panicked.Stack), "profile_test.go") || d.Ranked != nil {
				t.Fatalf("%+v, %v", d, err)
			}
			bad = ""
			if _, err := p.Select(t.Context(), request(t, 2)); err != nil {
				t.Errorf("the next request: %v", err)
			}
			for _, s := range p.Stats() {
				if (s.Panics == 1) != (s.Plugin == stage) {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

func TestAPickerChoosesAmongCandidatesOnly(t *testing.T) {
	for name, pick := range map[string]func(s []routing.Scored) []routing.Scored{
		"a stranger":     func(s []routing.Scored) []routing.Scored { return []routing.Scored{{Host: 9}} },
		"the same twice": func(s []routing.Scored) []routing.Scored { return []routing.Scored{s[0], s[0]} },
	} {
		p := build(t, routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "odd"}}, routing.Registry{
			"odd": as(fakePicker{fake{name: "odd"},
				func(_ routing.View, s []routing.Scored) []routing.Scored { return pick(s) }})})
		var panicked *routing.PluginPanicError
		if _, err := p.Select(t.Context(), request(t, 2)); !errors.As(err, &panicked) || panicked.Plugin != "odd" {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := build(t, routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "shy"}}, routing.Registry{
		"shy": as(fakePicker{fake{name: "shy"}, func(routing.View, []routing.Scored) []routing.Scored { return nil }})})
	var none *routing.NoCandidateError
	if _, err := p.Select(t.Context(), request(t, 2)); !errors.As(err, &none) || none.Filter != "shy" ||
		none.Removed != 2 {
		t.Errorf("a picker that takes none: %v", err)
	}
}

func TestAPreparerThatFailsEndsTheSelect(t *testing.T) {
	cause := errors.New("no disk")
	p := build(t, routing.ProfileSpec{Name: "p", Prepare: named("bad"), Pick: routing.PluginSpec{Name: "best"},
		Wanted: slots(total)},
		routing.Registry{"best": as(best("best")), "bad": as(fakePreparer{fake{name: "bad", writes: slots(total)},
			func(context.Context, *routing.Context) error { return cause }})})
	_, err := p.Select(t.Context(), request(t, 2))
	var failed *routing.PrepareError
	if !errors.As(err, &failed) || failed.Plugin != "bad" || !errors.Is(err, cause) {
		t.Errorf("error is %v", err)
	}
}

func TestAPluginSeesFactsCandidatesAndRole(t *testing.T) {
	p := build(t, routing.ProfileSpec{Name: "p", Role: routing.RoleDecode, Filter: named("look"),
		Pick: routing.PluginSpec{Name: "best"}},
		routing.Registry{"best": as(best("best")),
			"look": as(fakeFilter{fake{name: "look"}, func(v routing.View, in index.HostBitmap) index.HostBitmap {
				if v.Facts().Specialist != "debug" || v.Candidates() != hosts(2) || v.Role() != routing.RoleDecode {
					t.Errorf("facts %+v, candidates %v, role %v", v.Facts(), v.Candidates(), v.Role())
				}
				return in
			}})})
	if d, err := p.Select(t.Context(), request(t, 2)); err != nil || d.Role != routing.RoleDecode {
		t.Errorf("%+v, %v", d, err)
	}
}
