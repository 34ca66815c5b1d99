package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
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

// A pick that has to compute what another eligible replica held has regret, in its receipt and in the counts.
func TestRegretIsCountedWhereAnotherReplicaHeldThePrompt(t *testing.T) {
	engines := smallEngines()
	for i := range engines {
		engines[i].Step = 20 * time.Millisecond
	}
	w := newWorld(t, `profiles: {spread: {prepare: [tokenize, block-hashes, prefix-depths], pick: max-score,
  filter: [health, role, breaker, adapter, concurrency], score: [{least-load: 9}, {cache-affinity: 1}]}}`+
		smallWorld, engines, "specialists[0].profile=spread")
	asked := long("debug", "regret", "")
	_, resp := w.says("unary", asked)
	first := w.receiptOf(resp.Header)
	w.heard()
	defer w.open(400)() // ties go to the lowest: it runs where the prompt is held
	_, resp = w.says("unary", asked)
	r := w.receiptOf(resp.Header)
	h := r.Routing[len(r.Routing)-1].Hit
	if h.Replica == first.Attempts[0].Replica || h.BestReplica != first.Attempts[0].Replica || h.Best <= h.Chosen {
		t.Fatalf("the pick has nothing to regret: %+v", h)
	}
	eventually(t, "the request is counted", func() bool {
		return strings.Contains(metricsOf(t, w), fmt.Sprintf(
			`octet_routed_tokens_total{kind="regret",specialist="debug"} %d`+"\n", h.Best-h.Chosen))
	})
	computed := first.Prompt.Tokens - first.Routing[0].Hit.Chosen + r.Prompt.Tokens - h.Chosen
	if want := fmt.Sprintf(`octet_routed_tokens_total{kind="computed",specialist="debug"} %d`+"\n",
		computed); !strings.Contains(metricsOf(t, w), want) {
		t.Errorf("no %s", want)
	}
}

// A stream's tokens are counted as the engine counts them, though several come in one event.
func TestTokensAreCountedThatComeSeveralInAnEvent(t *testing.T) {
	engines := smallEngines()
	for i := range engines {
		engines[i].StreamInterval = 4
	}
	w := newWorld(t, smallWorld, engines, "specialists[0].replicas[0].engine=openai",
		"specialists[0].replicas[1].engine=openai") // which may tell usage at the end alone
	resp := w.Ask(t.Context(), "/v1/chat/completions",
		`{"model":"debug","stream":true,"max_tokens":33,"messages":[{"role":"user","content":"x"}]}`)
	answer, err := io.ReadAll(resp.Body)
	if err != nil || strings.Count(string(answer), `"content":"`) > 20 {
		t.Fatalf("%v: %s", err, answer)
	}
	const want = `octet_tenant_tokens_total{kind="completion",tenant="anonymous"} 33` + "\n"
	eventually(t, "the request is counted", func() bool { return strings.Contains(metricsOf(t, w), want) })
	if n := w.receiptOf(resp.Header).Result.CompletionTokens; n != 33 {
		t.Errorf("the receipt has %d tokens", n)
	}
}
