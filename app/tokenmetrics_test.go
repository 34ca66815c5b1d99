package app_test

import (
	"net/http"
	"strings"
	"testing"
)

// What requests took and brought is counted by tenant, by priority and against what was foretold.
func TestTokensDeadlinesAndHitsAreCounted(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	long := strings.Replace(hello, `"content":"`, `"content":"`+strings.Repeat("the same words again ", 40), 1)
	for range 3 {
		resp, answer := w.Post("/v1/chat/completions", long, "X-Deadline-Ms", "60000", "X-Priority", "-5")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
	}
	page := metricsOf(t, w)
	for _, want := range []string{
		`octet_deadlines_total{band="low",result="met",specialist="debug"} 3`,
		`octet_deadlines_total{band="normal",result="met",specialist="debug"} 0`,
		`octet_routed_tokens_total{kind="regret",specialist="debug"} 0`,
		`octet_tenant_tokens_total{kind="completion",tenant="anonymous"} `,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, none := range []string{
		`octet_tenant_tokens_total{kind="prompt",tenant="anonymous"} 0`,
		`octet_tenant_tokens_total{kind="cached",tenant="anonymous"} 0`,
		`octet_hit_tokens_total{kind="delivered",specialist="debug"} 0`,
		`octet_hit_tokens_total{kind="predicted",specialist="debug"} 0`,
		`octet_routed_tokens_total{kind="computed",specialist="debug"} 0`,
	} {
		if strings.Contains(page, none+"\n") {
			t.Errorf("nothing is counted: %s", none)
		}
	}
}
