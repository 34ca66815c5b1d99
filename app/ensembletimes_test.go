package app_test

import (
	"regexp"
	"strings"
	"testing"
)

// MEGA-56: no time on the page of metrics is the ensemble's: what requests, tokens and decisions take is told by
// specialist, by declared intent, or by plugin; /v1/slo has a report for each specialist and nothing else.
func TestNoTimeOnThePageIsTheEnsembles(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	for _, body := range []string{hello, systems} {
		w.Post("/v1/chat/completions", streamed(body), "X-Intent", "review")
	}
	times := regexp.MustCompile(`^octet_[a-z_]*(ttft|itl|latency|duration|slo)`)
	ofOne := regexp.MustCompile(`\b(specialist|intent|plugin_name)="[^"]+"`)
	seen := map[string]bool{}
	for line := range strings.Lines(metricsOf(t, w)) {
		family, _, _ := strings.Cut(line, "{")
		if !times.MatchString(line) {
			continue
		}
		if seen[family] = true; !ofOne.MatchString(line) {
			t.Errorf("a time of all specialists together: %s", line)
		}
	}
	for _, family := range []string{"octet_ttft_seconds_count", "octet_request_duration_seconds_count",
		"octet_intent_duration_seconds_count"} {
		if !seen[family] {
			t.Errorf("no %s: this test sees nothing", family)
		}
	}
	var told map[string]map[string]any
	w.Get(w.Data+"/v1/slo", &told)
	if all := told["specialists"]; len(told) != 1 || len(all) != 2 || all["debug"] == nil || all["systems"] == nil {
		t.Errorf("objectives of %v", told)
	}
}
