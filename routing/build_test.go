package routing_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
	"octet/routing/index"
)

// p makes a preparer's registry entry.
func prep(name string, reads, writes []routing.AnySlot) routing.Factory {
	return as(fakePreparer{fake: fake{name: name, reads: reads, writes: writes}})
}

func scorerOf(name string, reads ...routing.AnySlot) routing.Factory {
	return as(fakeScorer{fake{name: name, reads: reads}, func(routing.View, []index.HostID, []float64) {}})
}

func slots(s ...routing.AnySlot) []routing.AnySlot { return s }

// parts is a registry with one plugin of every kind of misfit.
func parts() routing.Registry {
	needy := keepAll("needy")
	needy.needs = []string{"absent"}
	jealous := keepAll("jealous")
	jealous.excludes = []string{"keep", "absent"}
	return routing.Registry{
		"writes-total":  prep("writes-total", nil, slots(total)),
		"writes-too":    prep("writes-too", nil, slots(total)),
		"writes-string": prep("writes-string", nil, slots(totalStr)),
		"total-label":   prep("total-label", slots(total), slots(label)),
		"label-total":   prep("label-total", slots(label), slots(total)),
		"label-other":   prep("label-other", slots(label), slots(other)),
		"other-label":   prep("other-label", slots(other), slots(label)),
		"self":          prep("self", slots(other), slots(other)),
		"mute":          prep("mute", nil, nil),
		"maybe-label":   prep("maybe-label", slots(routing.Optional(label)), slots(total)),
		"keep":          as(keepAll("keep")),
		"needy":         as(needy),
		"jealous":       as(jealous),
		"reads-total":   scorerOf("reads-total", total),
		"reads-label":   scorerOf("reads-label", label),
		"reads-other":   scorerOf("reads-other", other),
		"maybe-other":   scorerOf("maybe-other", routing.Optional(other)),
		"best":          as(best("best")),
		"tuned": func(p *routing.Params) routing.Plugin {
			p.Int("max", 1, 1, 10)
			p.Float("share", 0.5, 0, 1)
			p.Need("a clock", false)
			return keepAll("tuned")
		},
	}
}

// fault is what a test says of a routing.Fault.
type fault struct {
	Code         routing.Code
	Plugin, Slot string
	Pos          string
}

func faultsOf(t *testing.T, spec routing.ProfileSpec) []fault {
	t.Helper()
	_, err := routing.Build(spec, parts())
	if err == nil {
		return nil
	}
	var fs routing.Faults
	if !errors.As(err, &fs) {
		t.Fatalf("error is %T, want Faults", err)
	}
	var got []fault
	for _, f := range fs {
		if f.Profile != spec.Name || f.Message == "" {
			t.Errorf("incomplete fault: %+v", f)
		}
		got = append(got, fault{f.Code, f.Plugin, f.Slot, f.Pos})
	}
	return got
}

func TestBuildFindsEveryKindOfFault(t *testing.T) {
	best := routing.PluginSpec{Name: "best"}
	score := func(names ...string) (ws []routing.WeightedSpec) {
		for _, n := range names {
			ws = append(ws, weighted(n, 1))
		}
		return ws
	}
	type spec = routing.ProfileSpec
	for name, test := range map[string]struct {
		spec spec
		want []fault
	}{
		"nothing wrong": {spec{Prepare: named("writes-total", "total-label"), Score: score("reads-label"), Pick: best},
			nil},
		// MOD3-30
		"missing writer": {spec{Score: score("reads-total"), Pick: best},
			[]fault{{routing.CodeMissingWriter, "reads-total", "total", "profiles.p.score[0]"}}},
		"missing writer for the caller": {spec{Pick: best, Wanted: slots(total)},
			[]fault{{routing.CodeMissingWriter, "", "total", "profiles.p.wanted"}}},
		"given is written": {spec{Score: score("reads-total"), Pick: best, Given: slots(total)}, nil},
		"optional needs no writer": {spec{Prepare: named("maybe-label"), Score: score("reads-total", "maybe-other"),
			Pick: best}, nil},
		"wanted, optional, unwriten": {spec{Pick: best, Wanted: slots(routing.Optional(total))}, nil},
		// MOD3-31
		"missing plugin": {spec{Filter: named("needy"), Pick: best},
			[]fault{{routing.CodeMissingDependency, "needy", "", "profiles.p.filter[0]"}}},
		"missing part of the program": {spec{Filter: named("tuned"), Pick: best},
			[]fault{{routing.CodeMissingDependency, "tuned", "", "profiles.p.filter[0]"}}},
		// MOD3-32
		"cycle of two": {spec{Prepare: named("other-label", "label-other"), Pick: best},
			[]fault{{routing.CodeCycle, "other-label", "", "profiles.p.prepare[0]"}}},
		"cycle of one": {spec{Prepare: named("self"), Pick: best},
			[]fault{{routing.CodeCycle, "self", "", "profiles.p.prepare[0]"}}},
		// MOD3-33
		"wrong order": {spec{Prepare: named("total-label", "writes-total"), Score: score("reads-label"), Pick: best},
			[]fault{{routing.CodeWrongOrder, "total-label", "total", "profiles.p.prepare[0]"}}},
		"wrong order of an optional read": {
			spec{Prepare: named("maybe-label", "other-label"), Score: score("reads-total"), Pick: best,
				Given: slots(other)},
			[]fault{{routing.CodeWrongOrder, "maybe-label", "label", "profiles.p.prepare[0]"}}},
		"wrong order beside a cycle": {
			spec{Prepare: named("total-label", "label-total", "writes-total"), Pick: best},
			[]fault{
				{routing.CodeTwoWriters, "writes-total", "total", "profiles.p.prepare[2]"},
				{routing.CodeCycle, "total-label", "", "profiles.p.prepare[0]"}}},
		// MOD3-34
		"two writers": {spec{Prepare: named("writes-total", "writes-too"), Score: score("reads-total"), Pick: best},
			[]fault{{routing.CodeTwoWriters, "writes-too", "total", "profiles.p.prepare[1]"}}},
		"given and written": {spec{Prepare: named("writes-total"), Score: score("reads-total"), Pick: best,
			Given: slots(total)},
			[]fault{{routing.CodeTwoWriters, "writes-total", "total", "profiles.p.prepare[0]"}}},
		"one that another excludes": {spec{Filter: named("jealous", "keep"), Pick: best},
			[]fault{{routing.CodePluginConflict, "jealous", "", "profiles.p.filter[0]"}}},
		"none that it excludes": {spec{Filter: named("jealous"), Pick: best}, nil},
		"written, never read": {spec{Prepare: named("writes-total"), Pick: best},
			[]fault{{routing.CodeUnusedWrite, "writes-total", "total", "profiles.p.prepare[0]"}}},
		"written, read by the caller": {spec{Prepare: named("writes-total"), Pick: best, Wanted: slots(total)}, nil},
		"writes nothing": {spec{Prepare: named("mute"), Pick: best},
			[]fault{{routing.CodeUnusedWrite, "mute", "", "profiles.p.prepare[0]"}}},
		// MOD3-36
		"one name, two types": {spec{Prepare: named("writes-string"), Score: score("reads-total"), Pick: best},
			[]fault{{routing.CodeTypeConflict, "reads-total", "total", "profiles.p.score[0]"}}},
		"weights": {spec{Score: []routing.WeightedSpec{weighted("maybe-other", 0)}, Pick: best},
			[]fault{{routing.CodeWeight, "maybe-other", "", "profiles.p.score[0]"}}},
		"no picker": {spec{}, []fault{{routing.CodeNoPicker, "", "", "profiles.p.pick"}}},
		"a picker too many": {spec{Filter: named("best"), Pick: best},
			[]fault{{routing.CodeManyPickers, "best", "", "profiles.p.filter[0]"}}},
		"a picker misplaced": {spec{Filter: named("best")},
			[]fault{{routing.CodeWrongStage, "best", "", "profiles.p.filter[0]"},
				{routing.CodeNoPicker, "", "", "profiles.p.pick"}}},
		"a filter that picks": {spec{Pick: routing.PluginSpec{Name: "keep"}},
			[]fault{{routing.CodeWrongStage, "keep", "", "profiles.p.pick"}}},
		"a scorer twice": {spec{Score: score("maybe-other", "maybe-other"), Pick: best},
			[]fault{{routing.CodeDuplicatePlugin, "maybe-other", "", "profiles.p.score[1]"}}},
		"unknown plugin": {spec{Filter: named("kepe"), Pick: best},
			[]fault{{routing.CodeUnknownPlugin, "kepe", "", "profiles.p.filter[0]"}}},
		"unknown scorer, who may be the reader": {spec{Prepare: named("writes-total"), Score: score("nobody"),
			Pick: best},
			[]fault{{routing.CodeUnknownPlugin, "nobody", "", "profiles.p.score[0]"}}},
		"unknown preparer, whose slots are anyone's guess": {spec{Prepare: named("nobody"), Score: score("reads-total"),
			Pick: best},
			[]fault{{routing.CodeUnknownPlugin, "nobody", "", "profiles.p.prepare[0]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.spec.Name = "p"
			if diff := cmp.Diff(test.want, faultsOf(t, test.spec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWeightsMustBePositiveNumbers(t *testing.T) {
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		spec := routing.ProfileSpec{Name: "p", Score: []routing.WeightedSpec{weighted("maybe-other", w)},
			Pick: routing.PluginSpec{Name: "best"}}
		if fs := faultsOf(t, spec); len(fs) != 1 || fs[0].Code != routing.CodeWeight {
			t.Errorf("weight %v: %v", w, fs)
		}
	}
}

// MOD3-35, MOD3-37
//
//nolint:lll // raw text that cannot be broken
func TestBuildReportsEverythingAtOnceForMachines(t *testing.T) {
	_, err := routing.Build(routing.ProfileSpec{
		Name:    "mine",
		Prepare: named("other-label", "label-other", "writes-total", "writes-too"),
		Filter: []routing.PluginSpec{
			{Name: "tuned", Pos: "octet.yaml:12", Params: map[string]any{"max": 11, "share": "half", "mx": 3, "a": 1}},
			{Name: "kepe"},
		},
		Score: []routing.WeightedSpec{weighted("reads-total", -1)},
	}, parts())
	got, jsonErr := json.MarshalIndent(err, "", " ")
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	const want = `[
 {"code": "invalid_parameter", "profile": "mine", "plugin": "tuned", "pos": "octet.yaml:12", "message": "tuned max is 11, want a whole number from 1 to 10"},
 {"code": "invalid_parameter", "profile": "mine", "plugin": "tuned", "pos": "octet.yaml:12", "message": "tuned share is half, want a number from 0 to 1"},
 {"code": "missing_dependency", "profile": "mine", "plugin": "tuned", "pos": "octet.yaml:12", "message": "tuned needs a clock, which this program runs without"},
 {"code": "unknown_parameter", "profile": "mine", "plugin": "tuned", "pos": "octet.yaml:12", "message": "tuned has no parameter \"a\""},
 {"code": "unknown_parameter", "profile": "mine", "plugin": "tuned", "pos": "octet.yaml:12", "message": "tuned has no parameter \"mx\""},
 {"code": "unknown_plugin", "profile": "mine", "plugin": "kepe", "pos": "profiles.mine.filter[1]", "message": "no plugin is called \"kepe\""},
 {"code": "weight_not_positive", "profile": "mine", "plugin": "reads-total", "pos": "profiles.mine.score[0]", "message": "reads-total has weight -1, want a finite number over 0"},
 {"code": "no_picker", "profile": "mine", "pos": "profiles.mine.pick", "message": "exactly one picker is needed"},
 {"code": "two_writers", "profile": "mine", "plugin": "writes-too", "slot": "total", "pos": "profiles.mine.prepare[3]", "message": "writes-too writes slot \"total\", which writes-total writes too"},
 {"code": "cycle", "profile": "mine", "plugin": "other-label", "pos": "profiles.mine.prepare[0]", "message": "each needs what the one before it writes: other-label -> label-other -> other-label"}
]`
	if diff := cmp.Diff(decoded(t, want), decoded(t, string(got))); diff != "" {
		t.Error(diff)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 10 ||
		lines[6] != "profiles.mine.score[0]: weight_not_positive: reads-total has weight -1, want a finite number "+
			"over 0" {
		t.Errorf("as text:\n%v", err)
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParametersTakeWhatDecodersMakeOfNumbers(t *testing.T) {
	for _, v := range []any{int(3), int64(3), uint64(3), float64(3)} {
		var n int
		var f float64
		_, err := routing.Build(routing.ProfileSpec{Name: "p",
			Pick: routing.PluginSpec{Name: "x", Params: map[string]any{"n": v, "f": v}}},
			routing.Registry{"x": func(p *routing.Params) routing.Plugin {
				n, f = p.Int("n", 0, 0, 9), p.Float("f", 0, 0, 9)
				return best("x")
			}})
		if err != nil || n != 3 || f != 3 {
			t.Errorf("%T: %d, %g, %v", v, n, f, err)
		}
	}
	for _, v := range []any{3.5, math.NaN(), math.Inf(1), -1, "3", true, nil} {
		_, err := routing.Build(routing.ProfileSpec{Name: "p",
			Pick: routing.PluginSpec{Name: "x", Params: map[string]any{"n": v}}},
			routing.Registry{"x": func(p *routing.Params) routing.Plugin {
				p.Int("n", 0, 0, 9)
				return best("x")
			}})
		if err == nil {
			t.Errorf("%v (%T) is taken for a whole number from 0 to 9", v, v)
		}
	}
}
