package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// unevenHalves is one replica that computes prompts for two that answer.
const unevenHalves = `
auth: {anonymous: true}
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: %s
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 0, min_uncached_tokens: 0}
    replicas:
      - {url: "%%s", name: p-0, engine: vllm, blocks: 256, role: prefill}
      - {url: "%%s", name: d-0, engine: vllm, blocks: 256, role: decode}
      - {url: "%%s", name: d-1, engine: vllm, blocks: 256, role: decode}
`

// Where replicas do one part each, each part asks of its replicas' contexts alone what it needs: a prompt may be too
// long for the one that would compute it beforehand, and its answer for none; what only that one could take is the
// client's fault, not something to come again with.
func TestEachPartNeedsItsOwnContext(t *testing.T) {
	const short, long = 256, 4096
	for _, c := range []struct {
		name             string
		prefill, d0, d1  int
		words, maxTokens int
		status           int
		beforehand       int // prompts that are computed by the replica for that
	}{
		{"all fits", long, long, long, 400, 8, http.StatusOK, 2},
		{"the prompt is too long beforehand", short, long, long, 400, 8, http.StatusOK, 0},
		{"the answer would be too long beforehand", short, long, long, 120, 200, http.StatusOK, 2},
		{"it is too long for one that answers", long, short, long, 400, 8, http.StatusOK, 2},
		{"it is too long for those that answer", long, short, short, 400, 8, http.StatusBadRequest, 0},
		{"and beforehand too", short, short, short, 400, 8, http.StatusBadRequest, 0},
	} {
		for _, tokenizer := range []string{"builtin", "none"} {
			t.Run(c.name+"/"+tokenizer, func(t *testing.T) {
				t.Parallel()
				engines := halvesEngines()[1:4]
				for i, most := range []int{c.prefill, c.d0, c.d1} {
					engines[i].Name, engines[i].MaxModelLen = []string{"p-0", "d-0", "d-1"}[i], most
				}
				w := newWorld(t, fmt.Sprintf(unevenHalves, tokenizer), engines)
				for i := range 2 {
					body := chat("debug", c.maxTokens, false, fmt.Sprint(c.name, i, strings.Repeat(" word", c.words)))
					resp, answer := w.Post("/v1/chat/completions", body)
					if resp.StatusCode != c.status ||
						c.status != http.StatusOK && !strings.Contains(string(answer), "context_length_exceeded") {
						t.Errorf("%d %s: %s", resp.StatusCode, answer, attempts(w.receipt(resp)))
					}
				}
				if n := w.Engines["p-0"].Stats().Finished; tokenizer == "builtin" && n != uint64(c.beforehand) {
					t.Errorf("%d prompts are computed beforehand", n)
				}
			})
		}
	}
}
