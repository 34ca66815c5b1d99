package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octet/slo"
)

// correctness returns what GET /v1/slo/NAME says of a specialist's correctness.
func (w *world) correctness(specialist string) (c slo.Correctness) {
	w.T.Helper()
	var report slo.Report
	if status := w.Get(w.Data+"/v1/slo/"+specialist, &report); status != http.StatusOK {
		w.T.Fatalf("status %d", status)
	}
	return report.Correctness
}

// holdsKinds compares what is published of each kind: answers, and those of them that passed.
func (w *world) holdsKinds(when string, want map[string][2]int) {
	w.T.Helper()
	kinds := w.correctness("debug").Kinds
	if len(kinds) != len(want) {
		w.T.Errorf("%s: %d kinds are published, want %d: %+v", when, len(kinds), len(want), kinds)
	}
	for kind, n := range want {
		got := kinds[kind]
		if rate := float64(n[1]) / float64(n[0]); got.Samples != n[0] || got.Rate == nil || *got.Rate != rate {
			w.T.Errorf("%s: %s has %d samples and rate %v, want %d and %v", when, kind, got.Samples, got.Rate, n[0],
				rate)
		}
	}
}

// MEGA-54: the compile-pass rate is of the compile verdicts alone, in a header, in /v1/slo and in the metrics. Verdicts
// of other kinds have their own rates, and an answer is one sample of each kind at most: of "other" too, which stands
// for several.
func TestEachKindOfVerdictHasItsOwnRate(t *testing.T) {
	w := newJudgedWorld(t, "specialists[0].slo.correctness.floor=0.1", "specialists[0].slo.correctness.min_samples=5")
	for i := range 10 {
		id, _ := w.answered(toDebug)
		w.say(key, id, "compile", i > 0) // 9 of 10
		if _, counted := w.say(key, id, "compile", false); counted {
			t.Error("a kind counts twice for one answer")
		}
		if i < 8 {
			w.say(key, id, "review", i >= 6) // 2 of 8
		}
		if i < 6 {
			w.say(key, id, "lint", true)
			w.say(key, id, "style", i >= 3) // "other" passes where both pass: 3 of 6
		}
	}
	w.holdsKinds("all", map[string][2]int{"compile": {10, 9}, "review": {8, 2}, "other": {6, 3}})
	all := w.correctness("debug")
	if all.Samples != 10 || *all.Rate != 0.4 { // an answer passes when all kinds pass: 6, 7, 8, 9
		t.Errorf("all answers: %d samples, rate %v", all.Samples, *all.Rate)
	}
	eventually(t, "the heads of answers say so", func() bool {
		_, resp := w.answered(toDebug)
		return resp.Header.Get("X-SLO-Compile-Pass") == "rate=0.900, samples=10, window=24h" &&
			resp.Header.Get("X-SLO-Correctness") == "rate=0.400, floor=0.100, samples=10, window=24h"
	})
	for kind, want := range map[string]string{"compile": "0.9", "review": "0.25", "other": "0.5"} {
		line := fmt.Sprintf("octet_correctness_kind_rate{kind=%q,specialist=\"debug\"} %s\n", kind, want)
		if !strings.Contains(w.Metrics(), line) {
			t.Errorf("the metrics do not say %s", line)
		}
	}
}

// MEGA-54: what the configuration does not name is published as "other", whatever clients call it.
func TestKindsOfVerdictsAreTheConfigurations(t *testing.T) {
	w := newJudgedWorld(t, "specialists[0].slo.correctness.floor=0.1", "specialists[0].slo.correctness.min_samples=2")
	for i := range 4 {
		id, _ := w.answered(toDebug)
		w.say(key, id, "compile", true)
		w.say(key, id, fmt.Sprint("of-a-client-", i), false)
	}
	w.holdsKinds("four names of a client", map[string][2]int{"compile": {4, 4}, "other": {4, 0}})
}
