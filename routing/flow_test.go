package routing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
	"octet/routing/index"
)

var (
	nearTo   = routing.NewSlot[index.HostID]("near_to")
	distance = routing.NewSlot[[]int]("distance")
)

// toNear is the pick of a leg that others are to be near to.
var toNear = routing.Pick{Slot: nearTo, Put: func(c *routing.Context, h index.HostID) { nearTo.Put(c, h) }}

// counting prepares a slot, counts, and fails when any candidate was looked at before.
func counting(name string, runs *int, reads ...routing.AnySlot) fakePreparer {
	return fakePreparer{fake{name: name, reads: reads, writes: []routing.AnySlot{numbers}},
		func(_ context.Context, c *routing.Context) error {
			*runs++
			numbers.Put(c, []int{1, 2, 3})
			return nil
		}}
}

// nearest scores 1 for the host beside the one picked before: hosts 0 and 1 are neighbours, as are 2 and 3.
func nearest(name string) fakeScorer {
	return fakeScorer{fake{name: name, reads: []routing.AnySlot{routing.Optional(nearTo)}},
		func(v routing.View, hosts []index.HostID, out []float64) {
			for i, h := range hosts {
				if nearTo.Has(v) && h/2 == nearTo.Get(v)/2 {
					out[i] = 1
				}
			}
		}}
}

// reader scores by a slot, so that it is not written in vain.
func reader(name string, slot routing.AnySlot) fakeScorer {
	return fakeScorer{fake{name: name, reads: []routing.AnySlot{slot}},
		func(routing.View, []index.HostID, []float64) {}}
}

func spec(name string, role routing.Role, given ...routing.AnySlot) routing.ProfileSpec {
	return routing.ProfileSpec{Name: name, Role: role, Pick: routing.PluginSpec{Name: "best"}, Given: given}
}

func flow(t testing.TB, legs ...routing.Leg) *routing.Flow {
	t.Helper()
	w, err := routing.NewFlow(legs...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pd is a prefill leg over even hosts and a decode leg over odd ones, with what both prepare.
func pd(t testing.TB, runs *int, decode ...routing.WeightedSpec) (prefill, answer routing.Leg) {
	reg := routing.Registry{
		"best": as(best("best")), "count": as(counting("count", runs)), "reader": as(reader("reader", numbers)),
		"near": as(nearest("near")),
		"even": as(without("even", 1, 3)), "odd": as(without("odd", 0, 2)), "load": as(table("load", 0, 0.2, 0.9, 0.1)),
	}
	p, d := spec("p", routing.RolePrefill), spec("d", routing.RoleDecode, nearTo)
	p.Prepare, d.Prepare = named("count"), named("count")
	p.Filter, d.Filter = named("even"), named("odd")
	p.Score = []routing.WeightedSpec{weighted("reader", 1), weighted("load", 1)}
	d.Score = append([]routing.WeightedSpec{weighted("reader", 1), weighted("load", 1)}, decode...)
	return routing.Leg{Name: "prefill", Selector: build(t, p, reg), OnFailure: routing.Skip, Tries: 2, Pick: toNear},
		routing.Leg{Name: "decode", Selector: build(t, d, reg)}
}

// MOD3-02, MOD3-39, MOD3-40, MOD3-41, MOD3-42, MOD3-48, GAIE-33, GAIE-36
//
//nolint:lll // raw text that cannot be broken
func TestADecodeSelectionIsDrawnToThePrefillPick(t *testing.T) {
	for _, c := range []struct {
		decode []routing.WeightedSpec
		best   index.HostID
		waves  [][]string
	}{
		{nil, 1, [][]string{{"prefill", "decode"}}}, // by load
		{[]routing.WeightedSpec{weighted("near", 1)}, 3, [][]string{{"prefill"}, {"decode"}}},
	} {
		runs := 0
		prefill, decode := pd(t, &runs, c.decode...)
		w := flow(t, prefill, decode)
		if diff := cmp.Diff(c.waves, w.Waves()); diff != "" {
			t.Error(diff)
		}
		ctx := request(t, 4)
		ctx.EnableTrace(func() time.Duration { return 0 })
		got, err := w.Plan(t.Context(), ctx)
		if err != nil || len(got.Steps) != 2 || runs != 1 {
			t.Fatalf("%+v, %v, prepared %d times", got, err, runs)
		}
		p, d := got.Steps[0], got.Steps[1]
		if p.Name != "prefill" || p.Role != routing.RolePrefill || p.Ranked[0].Host != 2 ||
			p.OnFailure != routing.Skip || p.Tries != 2 {
			t.Errorf("prefill %+v", p)
		}
		if d.Name != "decode" || d.Role != routing.RoleDecode || d.Ranked[0].Host != c.best {
			t.Errorf("decode %+v, want host %d first", d, c.best)
		}
		var laps []string
		ctx.EachLap(func(_ routing.Stage, plugin string, _ time.Duration) { laps = append(laps, plugin) })
		if n := len(laps); n < 9 || laps[0] != "count" {
			t.Errorf("laps %v", laps)
		}
		told := ctx.AppendSelections(nil)
		if len(told) != 2 || told[0].Leg != "prefill" || told[0].Trace().Profile != "p" || told[1].Trace().Profile != "d" ||
			told[0].Trace().Stages[0].Plugin != "count" {
			t.Errorf("told %+v", told)
		}
	}
}

// MOD3-40: adding a step adds one Selector, and nothing else.
func TestAThirdLegIsOneMoreSelector(t *testing.T) {
	runs := 0
	prefill, decode := pd(t, &runs)
	pre := spec("pre", routing.RolePreprocess)
	first := build(t, pre, routing.Registry{"best": as(best("best"))})
	w := flow(t, routing.Leg{Name: "preprocess", Selector: first, OnFailure: routing.Skip}, prefill, decode)
	got, err := w.Plan(t.Context(), request(t, 4))
	if err != nil || len(got.Steps) != 3 || got.Steps[0].Role != routing.RolePreprocess || runs != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([][]string{{"preprocess", "prefill", "decode"}}, w.Waves()); diff != "" {
		t.Error(diff)
	}
}

// MOD3-43: two selections that no slot ties run at the same time; each waits here until the other is there.
func TestLegsThatNoSlotTiesSelectSideBySide(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	meet := func(name string, slot routing.Slot[string]) fakePreparer {
		return fakePreparer{fake{name: name, writes: []routing.AnySlot{slot}},
			func(_ context.Context, c *routing.Context) error {
				both.Done()
				both.Wait()
				slot.Put(c, name)
				return nil
			}}
	}
	left, right := routing.NewSlot[string]("left"), routing.NewSlot[string]("right")
	reg := routing.Registry{
		"best": as(best("best")), "a": as(meet("a", left)), "b": as(meet("b", right)), "ra": as(reader("ra", left)),
		"rb": as(reader("rb", right)),
	}
	a, b := spec("a", routing.RolePrefill), spec("b", routing.RoleDecode)
	a.Prepare, a.Score = named("a"), []routing.WeightedSpec{weighted("ra", 1)}
	b.Prepare, b.Score = named("b"), []routing.WeightedSpec{weighted("rb", 1)}
	w := flow(t, routing.Leg{Name: "a", Selector: build(t, a, reg)}, routing.Leg{Name: "b", Selector: build(t, b, reg)})
	for range 3 { // the Context comes from a pool
		both = sync.WaitGroup{}
		both.Add(2)
		c := routing.Acquire(routing.Facts{})
		c.Candidates(hosts(3))
		if _, err := w.Plan(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if left.Get(c.View()) != "a" || right.Get(c.View()) != "b" {
			t.Error("what was prepared side by side did not come together")
		}
		c.Release()
	}
}

// What follows from a pick is prepared again after it, and whatever does not is prepared once.
func TestWhatFollowsFromAPickIsPreparedAfterIt(t *testing.T) {
	var seen []string
	far := fakePreparer{fake{name: "far", reads: []routing.AnySlot{routing.Optional(nearTo)},
		writes: []routing.AnySlot{distance}}, func(_ context.Context, c *routing.Context) error {
		seen = append(seen, fmt.Sprint(nearTo.Has(c.View()), nearTo.Get(c.View())))
		distance.Put(c, nil)
		return nil
	}}
	runs := 0
	reg := routing.Registry{"best": as(best("best")), "far": as(far), "rd": as(reader("rd", distance)),
		"count": as(counting("count", &runs)), "rn": as(reader("rn", numbers))}
	both := spec("both", routing.RolePrefill)
	both.Prepare, both.Score = named("count", "far"), []routing.WeightedSpec{weighted("rd", 1), weighted("rn", 1)}
	second := both
	second.Role, second.Given = routing.RoleDecode, []routing.AnySlot{nearTo}
	w := flow(t, routing.Leg{Name: "prefill", Selector: build(t, both, reg), Pick: toNear},
		routing.Leg{Name: "decode", Selector: build(t, second, reg)})
	if _, err := w.Plan(t.Context(), request(t, 2)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"false 0", "true 0"}, seen); diff != "" || runs != 1 {
		t.Errorf("%s, count ran %d times", diff, runs)
	}
}

// decider leaves a leg out before or after the selections.
type decider struct{ before, after string }

func (decider) Reads() []routing.AnySlot { return []routing.AnySlot{numbers} }
func (d decider) Before(v routing.View) string {
	if !numbers.Has(v) {
		return "asked before its slot was prepared"
	}
	return d.before
}
func (d decider) After(_ routing.View, last index.HostID) string {
	if d.after != "" {
		return fmt.Sprint(d.after, " ", last)
	}
	return ""
}

// MOD3-49, GAIE-02, GAIE-35
func TestALegIsLeftOutWhereItIsNotWorthIt(t *testing.T) {
	for name, c := range map[string]struct {
		decider decider
		why     string
		best    index.HostID // of the decode leg, which is near a prefill pick that was made
	}{
		"worth it":  {decider{}, "", 3},
		"short":     {decider{before: "short"}, "short", 1},
		"warm":      {decider{after: "warm"}, "warm 3", 3},
		"cannot be": {decider{}, "routing: no candidate: none removed the last 2, even 2 before", 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			prefill, decode := pd(t, &runs, weighted("near", 1))
			prefill.Decider = c.decider
			if name == "cannot be" {
				p := spec("p", routing.RolePrefill)
				p.Filter = named("even", "none")
				reg := routing.Registry{"best": as(best("best")), "even": as(without("even", 1, 3)),
					"none": as(without("none", 0, 2))}
				prefill.Selector = build(t, p, reg)
			}
			ctx := request(t, 4)
			got, err := flow(t, prefill, decode).Plan(t.Context(), ctx)
			if err != nil {
				t.Fatal(err)
			}
			if steps := len(got.Steps); (steps == 2) != (c.why == "") || got.Steps[steps-1].Ranked[0].Host != c.best {
				t.Errorf("plan %+v", got)
			}
			if told := ctx.AppendSelections(nil); told[0].Skipped != c.why || told[1].Skipped != "" {
				t.Errorf("told %+v", told)
			}
		})
	}
}

func TestALegThatMustBeThereFailsThePlan(t *testing.T) {
	runs := 0
	prefill, decode := pd(t, &runs)
	prefill.OnFailure = routing.Fail
	ctx := request(t, 1) // host 0: none decodes
	if _, err := flow(t, prefill, decode).Plan(t.Context(), ctx); !errors.Is(err, routing.ErrNoCandidate) ||
		!strings.Contains(err.Error(), "odd") {
		t.Errorf("%v", err)
	}
	if told := ctx.AppendSelections(nil); len(told) != 2 || told[0].Skipped != "" || told[1].Skipped == "" {
		t.Errorf("told %+v", told)
	}
	boom := fakePreparer{fake{name: "boom", writes: []routing.AnySlot{numbers}},
		func(context.Context, *routing.Context) error { panic("boom") }}
	p := spec("p", routing.RolePrefill)
	p.Prepare, p.Score = named("boom"), []routing.WeightedSpec{weighted("r", 1)}
	leg := routing.Leg{Selector: build(t, p,
		routing.Registry{"best": as(best("best")), "boom": as(boom), "r": as(reader("r", numbers))})}
	one, two := leg, leg
	one.Name, two.Name, one.OnFailure = "one", "two", routing.Skip
	var panicked *routing.PluginPanicError
	if _, err := flow(t, one, two).Plan(t.Context(), request(t, 2)); !errors.As(err, &panicked) ||
		panicked.Plugin != "boom" {
		t.Errorf("%v", err)
	}
}

func TestImpossibleWorkflowsAreRefused(t *testing.T) {
	s := build(t, spec("p", routing.RoleBoth), routing.Registry{"best": as(best("best"))})
	a, b := routing.Leg{Name: "a", Selector: s, Pick: toNear}, routing.Leg{Name: "b", Selector: s}
	with := func(l routing.Leg, change func(*routing.Leg)) routing.Leg {
		change(&l)
		return l
	}
	for name, legs := range map[string][]routing.Leg{
		"none":                  {},
		"no selector":           {{Name: "a"}},
		"two of one name":       {a, a},
		"two picks in one slot": {a, with(b, func(l *routing.Leg) { l.Pick = toNear })},
		"a slot and no put":     {with(a, func(l *routing.Leg) { l.Pick.Put = nil }), b},
		"the last may be left":  {a, with(b, func(l *routing.Leg) { l.Decider = decider{} })},
		"the last may skip":     {a, with(b, func(l *routing.Leg) { l.OnFailure = routing.Skip })},
	} {
		if _, err := routing.NewFlow(legs...); !errors.Is(err, routing.ErrWorkflow) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
