package classifier

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A request that the router sends goes to a specialist that has its adapter and takes what it holds, however it was
// routed; nothing changes where the first choice can answer, or none can.
func TestARoutedRequestGoesWhereItCanBeAnswered(t *testing.T) {
	adapters := map[string][]string{"debug": {"gdb-v2", "both"}, "memory": {"arena"}, "stl": {"both"}}
	routes := map[string]struct {
		model *fake
		in    Input
	}{
		"by the text's structure":     {nil, Input{Text: []byte(trace)}},
		"by the model":                {&fake{out: sure, reject: 0.05}, Input{}},
		"to the fallback":             {nil, Input{}},
		"to the fallback by a reject": {&fake{out: []float64{0.05, 0.1, 0, 0, 0, 0, 0, 0}, reject: 0.85}, Input{}},
		"as it declared an intent":    {nil, Input{Intent: "build"}},
		"as it declared a model":      {nil, Input{Model: "build"}},
	}
	for name, route := range routes {
		for _, adapter := range []string{"", "gdb-v2", "arena", "both", "none"} {
			for _, takers := range [][]string{nil, {"stl"}, {"debug", "memory"}, {"algo", "build"}, {"no one"}} {
				c := cascade(t, func(cfg *Config) {
					if cfg.Adapters = adapters; route.model != nil {
						cfg.Model = route.model
					}
				})
				in := route.in
				plain, err := c.Classify(in)
				if err != nil {
					t.Fatal(err)
				}
				in.Adapter = adapter
				if takers != nil {
					in.Able = func(s string) bool { return slices.Contains(takers, s) }
				}
				can := func(s string) bool {
					return (adapter == "" || slices.Contains(adapters[s], adapter)) &&
						(takers == nil || slices.Contains(takers, s))
				}
				t.Run(fmt.Sprintf("%s/%s/%v", name, adapter, takers), func(t *testing.T) {
					v, err := c.Classify(in)
					checkAble(t, &plain, &v, can)
					lacks := adapter != "" && !slices.Contains(adapters[v.Specialist], adapter)
					if (err != nil) != lacks {
						t.Errorf("%s: %v", v.Specialist, err)
					}
				})
			}
		}
	}
}

// checkAble holds v to what plain, the verdict of a request that all can answer, comes to for one that some can.
func checkAble(t *testing.T, plain, v *Verdict, can func(string) bool) {
	t.Helper()
	declared := plain.RoutedBy == ByModel || plain.RoutedBy == ByIntent
	if declared || can(plain.Specialist) || !slices.ContainsFunc(eight, can) {
		if v.Specialist != plain.Specialist {
			t.Errorf("it goes to %s, not to %s", v.Specialist, plain.Specialist)
		}
		return
	}
	want := ""
	for i, s := range eight { // the first, or the most probable
		if can(s) && (want == "" || s == "algo" && plain.Probabilities == nil ||
			plain.Probabilities != nil && plain.Probabilities[i] > plain.Probabilities[slices.Index(eight, want)]) {
			want = s
		}
	}
	if v.Specialist != want || v.Second == want || v.Shadow == want || v.Second != "" && !can(v.Second) {
		t.Errorf("%s, then %q: %q", v.Specialist, v.Second, v.Rule)
	}
	if plain.Probabilities == nil && (!math.IsNaN(v.Confidence) || v.RoutedBy != ByFallback) ||
		plain.Probabilities != nil && (v.RoutedBy != ByClassifier ||
			v.Confidence != plain.Probabilities[slices.Index(eight, want)]) {
		t.Errorf("%v by %s", v.Confidence, v.RoutedBy)
	}
}
