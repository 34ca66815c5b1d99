package app_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// heldBudget is a specialist that may sleep, and a tenant with 2000 tokens a day.
const heldBudget = `
auth:
  anonymous: true
  tenants:
    - {name: acme, key_sha256: ` + keySHA + `, budget: {tokens_per_day: 2000}}
fleet: {probe_interval: 1s}
limits: {max_queue_wait: 30s}
specialists:
  - name: debug
    tokenizer: builtin
    sleep: {hold: 60s}
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
`

// A prompt that is larger than what is left of a tenant's day is refused, and costs nothing, whether it was held for an
// engine that slept or not: before it is held its tokens are guessed by its text, which says little of some bodies.
func TestABudgetHoldsForWhatIsHeld(t *testing.T) {
	for name, c := range map[string]struct{ path, body string }{
		"short words": {"chat/completions", chat("debug", 4, false, strings.Repeat("a ", 2100))},
		"token ids": {"completions", `{"model":"debug","max_tokens":4,"prompt":[` +
			strings.TrimSuffix(strings.Repeat("7,", 2100), ",") + `]}`},
		"fits": {"chat/completions", chat("debug", 4, false, "why?")},
	} {
		for _, asleep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/asleep=%t", name, asleep), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					engines := awake("debug-0")
					engines[0].Asleep = asleep
					b := newBubble(t, engines)
					b.Serve(heldBudget)
					time.Sleep(3 * time.Second)
					want := 429
					if name == "fits" {
						want = 200
					}
					got := b.reply("/v1/"+c.path, c.body, "Authorization", "Bearer "+key)
					if got.status != want || want == 429 && !strings.Contains(got.text, "quota_exceeded") {
						t.Fatalf("%d %s", got.status, got.text[max(0, len(got.text)-300):])
					}
					if next := b.reply("/v1/chat/completions", chat("debug", 4, false, strings.Repeat("a ", 1700)),
						"Authorization", "Bearer "+key); next.status != 200 {
						t.Errorf("one that fits, then: %d %.200s", next.status, next.text)
					}
				})
			})
		}
	}
}
