package app_test

import (
	"bytes"
	"strings"
	"testing"

	"octet/cmd"
)

// explained runs octet explain against the world.
func (w *world) explained(args ...string) string {
	w.T.Helper()
	c := cmd.Root()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs(append([]string{"explain", "--server", w.Data}, args...))
	if err := c.ExecuteContext(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	return out.String()
}

// A table names, for every step, the pick, why a step is left out, and every candidate's verdicts and scores, raw and
// weighted.
func TestExplainShowsEveryStepOfAWorkflow(t *testing.T) {
	w := newWorld(t, halves, halvesEngines(), "specialists[0].profile=cache-aware")
	before := w.Engines["p-0"].Stats()
	table := w.explained("--body", long("debug", "explain", ""))
	for _, want := range []string{
		"step        prefill    on failure skip\nreplica     p-0",
		"step        decode     on failure retry\nreplica     d-0", "admission   admitted",
		"candidate   removed by  cache-affinity", "d-0         role", "p-1                     0.000 (0.000)",
	} {
		if !strings.Contains(squeezed(table), squeezed(want)) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if table = w.explained("--model", "debug", "short"); !strings.Contains(squeezed(table), "left out short: ") {
		t.Errorf("a short prompt:\n%s", table)
	}
	if after := w.Engines["p-0"].Stats(); after != before {
		t.Errorf("explaining ran something: %+v", after)
	}
	if table = w.explained("--model", "alone", "x"); strings.Contains(table, "step") ||
		!strings.Contains(squeezed(table), "replica alone-0 0 tokens cached, by prediction\nadmission admitted") {
		t.Errorf("a single step:\n%s", table)
	}
}

// squeezed is text with runs of blanks made one.
func squeezed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

// The receipt holds what was believed and what was delivered: the pick's hit, the best one, the regret between them.
func TestReceiptsTellPredictedAndDeliveredHits(t *testing.T) {
	w := newWorld(t, halves, halvesEngines(), "specialists[0].disaggregation.min_prompt_tokens=100000",
		"specialists[0].profile=least-load")
	body := long("debug", "regret", "")
	w.says("unary", body)
	w.heard()

	_, resp := w.says("unary", body) // least-load knows nothing of caches, and ties go to the lowest
	a := w.receipt(resp).Attempts[0]
	if a.Replica != "d-0" || a.DeliveredTokens == nil || *a.DeliveredTokens == 0 {
		t.Errorf("the same again: %+v", a)
	}

	w = newWorld(t, halves, halvesEngines(), "specialists[0].disaggregation.min_prompt_tokens=100000")
	w.says("unary", body)
	w.heard()
	_, resp = w.says("unary", body)
	r := w.receipt(resp)
	last := r.Routing[len(r.Routing)-1]
	if a := r.Attempts[0]; a.PredictedTokens == 0 || a.DeliveredTokens == nil ||
		*a.DeliveredTokens != a.PredictedTokens {
		t.Errorf("predicted %d, delivered %v", a.PredictedTokens, a.DeliveredTokens)
	}
	if h := last.Hit; h.Replica != "d-0" || h.Chosen != r.Attempts[0].PredictedTokens ||
		h.Best != h.Chosen || h.Regret != 0 {
		t.Errorf("hit %+v", h)
	}

	w.do("POST", w.Admin+"/admin/drain/d-0") // draining, it is not eligible: what it holds counts as no regret
	_, resp = w.says("unary", body)
	r = w.receipt(resp)
	if h := r.Routing[len(r.Routing)-1].Hit; h.Replica != "d-1" || h.Chosen != 0 || h.Best != 0 || h.Regret != 0 {
		t.Errorf("hit %+v", h)
	}
}
