package plugins_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

func placed(h index.HostID, labels map[string]string) fleet.Spec {
	return fleet.Spec{Host: h, Labels: labels, Engine: "vllm", HasEvents: true}
}

// GAIE-15
func TestLabelSelectorKeepsWhoSatisfiesAllConditions(t *testing.T) {
	w := newWorld(t, 0)
	w.put(placed(0, map[string]string{"zone": "a", "gpu": "h100"}))
	w.put(placed(1, map[string]string{"zone": "a"}))
	w.put(placed(2, map[string]string{"zone": "b", "gpu": "l4"}))
	expr := func(key, operator string, values ...any) map[string]any {
		e := map[string]any{"key": key, "operator": operator}
		if values != nil {
			e["values"] = values
		}
		return map[string]any{"matchExpressions": []any{e}}
	}
	for name, test := range map[string]struct {
		params map[string]any
		want   index.HostBitmap
	}{
		"equal": {map[string]any{"matchLabels": map[string]any{"zone": "a"}}, index.HostSet(0, 1)},
		"two labels": {map[string]any{"matchLabels": map[string]any{"zone": "a", "gpu": "h100"}},
			index.HostSet(0)},
		"in":                 {expr("gpu", "In", "h100", "l4"), index.HostSet(0, 2)},
		"not in":             {expr("gpu", "NotIn", "l4"), index.HostSet(0, 1)},
		"exists":             {expr("gpu", "Exists"), index.HostSet(0, 2)},
		"does not exist":     {expr("gpu", "DoesNotExist"), index.HostSet(1)},
		"none":               {expr("gpu", "In", "b200"), index.HostBitmap{}},
		"what everybody has": {expr("name", "In", "debug-2"), index.HostSet(2)},
		"engine":             {expr("engine", "NotIn", "vllm"), index.HostBitmap{}},
	} {
		if got := w.left("label-selector-filter", test.params, given{}); got != test.want {
			t.Errorf("%s: left %v, want %v", name, got, test.want)
		}
	}
}

// GAIE-16: the filters for roles are label selectors over the role.
func TestEndpointFiltersAreLabelSelectorsOverTheRole(t *testing.T) {
	w := newWorld(t, 0)
	for h, role := range []string{fleet.RoleBoth, fleet.RolePrefill, fleet.RoleDecode} {
		w.put(fleet.Spec{Host: index.HostID(h), Role: role})
	}
	for filter, role := range map[string]string{"prefill-endpoints": "prefill", "decode-endpoints": "decode"} {
		same := map[string]any{"matchExpressions": []any{map[string]any{"key": "role", "values": []any{role, "both"}}}}
		if a, b := w.left(filter, nil, given{}), w.left("label-selector", same, given{}); a != b || a.Count() != 2 {
			t.Errorf("%s leaves %v, the selector %v", filter, a, b)
		}
	}
}

func TestALabelSelectorFollowsTheFleet(t *testing.T) {
	w := newWorld(t, 0)
	w.put(placed(0, map[string]string{"zone": "a"}))
	p := w.build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
		Filter: []routing.PluginSpec{{Name: "label-selector",
			Params: map[string]any{"matchLabels": map[string]any{"zone": "a"}}}}})
	for h := range index.HostID(3) {
		w.put(placed(h, map[string]string{"zone": "a"}))
		if got := w.pick(p, routing.Facts{}); len(got) != int(h)+1 {
			t.Errorf("%d replicas, %d left", h+1, len(got))
		}
	}
}

func TestTopologyKeepsTheNearest(t *testing.T) {
	w := newWorld(t, 4)
	at := given{distances: []uint8{2, 1, 1, 3}, levels: 3}
	for name, test := range map[string]struct {
		params map[string]any
		want   index.HostBitmap
	}{
		"the nearest":        {nil, index.HostSet(1, 2)},
		"enough of them":     {map[string]any{"enough": 3}, index.HostSet(0, 1, 2)},
		"fewer than enough":  {map[string]any{"enough": 9}, index.HostSet(0, 1, 2, 3)},
		"a bound":            {map[string]any{"enough": 9, "max_distance": 2}, index.HostSet(0, 1, 2)},
		"a bound that rules": {map[string]any{"max_distance": 0}, index.HostBitmap{}},
	} {
		if got := w.left("topology", test.params, at); got != test.want {
			t.Errorf("%s: left %v, want %v", name, got, test.want)
		}
	}
}

//nolint:lll // raw text that cannot be broken
func TestUtilizationRemovesTheFull(t *testing.T) {
	w := newWorld(t, 3)
	w.load(0, fleet.Load{KVUsage: 0.96})
	w.load(1, fleet.Load{Waiting: 129})
	w.load(2, fleet.Load{KVUsage: 0.95, Waiting: 128})
	if got := w.left("utilization", nil, given{}); got != index.HostSet(2) {
		t.Errorf("left %v", got)
	}
	if got := w.left("utilization", map[string]any{"max_kv": 0.5, "max_waiting": 0}, given{}); !got.Empty() {
		t.Errorf("all are full, left %v", got)
	}
	if got := w.left("utilization", map[string]any{"max_kv": 0.5, "max_waiting": 0, "keep_all": true}, given{}); got.Count() != 3 {
		t.Errorf("keep_all left %v", got)
	}
}

// GAIE-08: the filter that removes the last one is named, after those before it.
func TestNoCandidateLeftNamesTheFilter(t *testing.T) {
	w := newWorld(t, 2)
	w.load(0, fleet.Load{KVUsage: 1})
	w.replica(1).SetDraining(true)
	_, _, err := w.decide(routing.ProfileSpec{Filter: []routing.PluginSpec{{Name: "health"}, {Name: "utilization"}}},
		given{})
	var none *routing.NoCandidateError
	if !errors.As(err, &none) || none.Filter != "utilization" || none.Removed != 1 || len(none.Before) != 1 ||
		none.Before[0].Plugin != "health" {
		t.Errorf("%v", err)
	}
}

// GAIE-12: the sticky ones, but for a share of all requests.
//
//nolint:lll // raw text that cannot be broken
func TestPrefixAffinityNarrowsToWhoHoldsThePrompt(t *testing.T) {
	w := newWorld(t, 4)
	held := given{depths: []uint16{8, 7, 10, 0}, blocks: 10}
	never, always := map[string]any{"explore": 0}, map[string]any{"explore": 1}
	if got := w.left("prefix-cache-affinity-filter", never, held); got != index.HostSet(0, 2) {
		t.Errorf("left %v", got)
	}
	if got := w.left("prefix-cache-affinity", always, held); got.Count() != 4 {
		t.Errorf("always exploring left %v", got)
	}
	if got := w.left("prefix-cache-affinity", never, given{depths: []uint16{1, 7, 0, 0}, blocks: 10}); got.Count() != 4 {
		t.Errorf("nobody sticky, left %v", got)
	}
	if got := w.left("prefix-cache-affinity", map[string]any{"threshold": 0, "explore": 0},
		given{depths: []uint16{0, 1, 0, 0}, blocks: 10}); got != index.HostSet(1) {
		t.Errorf("who holds nothing is sticky: %v", got)
	}
	p, err := routing.Build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
		Given: []routing.AnySlot{plugins.Fleet, plugins.Depths, plugins.BlockHashes},
		Filter: []routing.PluginSpec{{Name: "prefix-cache-affinity",
			Params: map[string]any{"explore": 0.2, "seed": 3}}}}, plugins.Registry(w.deps))
	if err != nil {
		t.Fatal(err)
	}
	loose := 0
	for range 2000 {
		c := w.request(routing.Facts{})
		held.put(c)
		d, err := p.Select(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if d.Eligible.Count() == 4 {
			loose++
		}
	}
	if loose < 330 || loose > 470 {
		t.Errorf("%d of 2,000 explored, want about 400", loose)
	}
}

// GAIE-13
//
//nolint:lll // raw text that cannot be broken
func TestPrefixAffinityGivesWayWhereItWouldCostTooMuchTime(t *testing.T) {
	w := newWorld(t, 3)
	held := given{depths: []uint16{10, 10, 0}, blocks: 10}
	fc := func(a, b, c float64) []plugins.Forecast {
		return []plugins.Forecast{{TTFT: a, Known: true}, {TTFT: b, Known: true}, {TTFT: c, Known: true}}
	}
	for name, test := range map[string]struct {
		forecasts []plugins.Forecast
		want      index.HostBitmap
	}{
		"a little later":               {fc(5.9, 6, 1), index.HostSet(0, 1)},
		"much later":                   {fc(6.1, 7, 1), index.HostSet(0, 1, 2)},
		"one of the sticky is quick":   {fc(9, 2, 1), index.HostSet(0, 1)},
		"nothing is foretold":          {make([]plugins.Forecast, 3), index.HostSet(0, 1)},
		"nothing of the sticky is":     {[]plugins.Forecast{{}, {}, {TTFT: 1, Known: true}}, index.HostSet(0, 1)},
		"nothing of the others is":     {[]plugins.Forecast{{TTFT: 99, Known: true}, {}, {}}, index.HostSet(0, 1)},
		"the quickest is a sticky one": {fc(1, 99, 98), index.HostSet(0, 1)},
	} {
		held.forecasts = test.forecasts
		if got := w.left("prefix-cache-affinity", map[string]any{"explore": 0}, held); got != test.want {
			t.Errorf("%s: left %v, want %v", name, got, test.want)
		}
	}
	held.forecasts = fc(99, 99, 1)
	if got := w.left("prefix-cache-affinity", map[string]any{"explore": 0, "max_ttft_penalty_ms": 0}, held); got != index.HostSet(0, 1) {
		t.Errorf("without a gate: %v", got)
	}
}

// GAIE-14. EPP's cases: a tier that is alone is kept, no forecast is the late tier, all exploring is the other tier.
func TestHeadroomTierKeepsWhoIsInTime(t *testing.T) {
	w := newWorld(t, 3)
	wants := routing.Facts{TTFT: 200 * time.Millisecond, Total: 200*time.Millisecond + 99*100*time.Millisecond,
		MaxTokens: 100}
	in := func(ttft, itl float64) plugins.Forecast {
		return plugins.Forecast{TTFT: 0.2 - ttft, ITL: 0.1 - itl, Known: true}
	}
	for name, test := range map[string]struct {
		facts     routing.Facts
		forecasts []plugins.Forecast
		explore   float64
		want      index.HostBitmap
	}{
		"two in time": {wants, []plugins.Forecast{in(0.1, 0.05), in(0.15, 0.08), in(-0.1, -0.05)}, 0,
			index.HostSet(0, 1)},
		"the other tier": {wants, []plugins.Forecast{in(0.1, 0.05), in(0.15, 0.08), in(-0.1, -0.05)}, 1,
			index.HostSet(2)},
		"all in time": {wants, []plugins.Forecast{in(0.1, 0.05), in(0.15, 0.08), in(0.1, 0.05)}, 1,
			index.HostSet(0, 1, 2)},
		"none in time": {wants, []plugins.Forecast{in(-0.1, 0.05), in(0.1, -0.08), in(-1, 0.05)}, 0,
			index.HostSet(0, 1, 2)},
		"no forecast is late": {wants, []plugins.Forecast{{}, in(0.1, 0.05), {}}, 0, index.HostSet(1)},
		"no deadline": {routing.Facts{}, []plugins.Forecast{in(0.1, 0.05), in(-1, -1), {}}, 0,
			index.HostSet(0, 1, 2)},
		"first token only": {routing.Facts{TTFT: 200 * time.Millisecond},
			[]plugins.Forecast{in(0.1, -9), in(-0.1, 9), {}}, 0, index.HostSet(0)},
		"too late already": {routing.Facts{TTFT: -1}, []plugins.Forecast{in(0.1, 1), in(0.19, 1), {}}, 0,
			index.HostSet(0, 1, 2)},
	} {
		got := w.left("slo-headroom-tier-filter", map[string]any{"explore": test.explore},
			given{facts: test.facts, forecasts: test.forecasts})
		if got != test.want {
			t.Errorf("%s: left %v, want %v", name, got, test.want)
		}
	}
}
