package plugins_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"octet/routing"
	"octet/routing/plugins"
)

// Every plugin has its row in the catalogue, with every parameter that it takes; every other name is listed there.
func TestTheCatalogueIsComplete(t *testing.T) {
	text, err := os.ReadFile("CATALOGUE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			name, rest, _ := strings.Cut(name, "`")
			rows[name] += rest
		}
	}
	w := newWorld(t, 1)
	w.deps.Guesses, w.deps.Tiers = guesses(t), noTiers{}
	registry := plugins.Registry(w.deps)
	for name, factory := range registry {
		var params routing.Params
		plugin := factory(&params)
		if plugin.Name() != name {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("the other name %s is not listed", name)
			}
			continue
		}
		row, ok := rows[name]
		if !ok {
			t.Errorf("%s has no row", name)
		}
		for _, param := range params.Known() {
			if !strings.Contains(row, "`"+param+"`") {
				t.Errorf("%s: its parameter %s is not in its row", name, param)
			}
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("a row for %s, which does not exist", name)
	}
}

// GAIE-09: whatever a parameter is given that it cannot be, and an unknown one, is a fault.
//
//nolint:lll // raw text that cannot be broken
func TestEveryPluginRefusesParametersThatItDoesNotTake(t *testing.T) {
	w := newWorld(t, 1)
	w.deps.Guesses, w.deps.Tiers = guesses(t), noTiers{}
	for name, factory := range plugins.Registry(w.deps) {
		if got := faultsOf(t, name, map[string]any{"nobody_knows": 1}); !slices.Contains(got, routing.CodeUnknownParameter) {
			t.Errorf("%s takes any parameter: %v", name, got)
		}
		var params routing.Params
		factory(&params)
		for _, param := range params.Known() {
			if got := faultsOf(t, name, map[string]any{param: []any{struct{}{}}}); !slices.Contains(got, routing.CodeInvalidParameter) {
				t.Errorf("%s takes anything for %s: %v", name, param, got)
			}
		}
	}
	for name, params := range map[string]map[string]any{
		"locality":         {"levels": []any{}},
		"latency-headroom": {"ttft_weight": 0, "itl_weight": 0},
		"consistent-hash":  {"load_factor": 0.5},
		"label-selector": {"matchExpressions": []any{map[string]any{"key": "a", "operator": "Exists",
			"values": []any{"b"}}}},
	} {
		if got := faultsOf(t, name, params); !slices.Contains(got, routing.CodeInvalidParameter) {
			t.Errorf("%s takes %v", name, params)
		}
	}
}
