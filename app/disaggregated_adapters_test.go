package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/engine/emulator"
)

// halvesLoras is one replica for each half of a request, and two adapters. The one that prefills has room for one of
// them; the other answers one request at a time.
const halvesLoras = `
auth: {anonymous: true}
fleet: {probe_interval: 50ms, scrape_interval: 100ms}
specialists:
  - name: debug
    tokenizer: builtin
    workflow: disaggregated
    adapter_rules: {patience: 50ms, swaps_per_minute: 6000}
    adapters: [{name: a, path: /a, replicas: 1}, {name: b, path: /b, replicas: 1}]
    disaggregation: {min_prompt_tokens: 0, min_uncached_tokens: 0}
    replicas:
      - {url: "%%s", name: p-0, blocks: 256, engine: %[1]s, role: prefill}
      - {url: "%%s", name: d-0, blocks: 256, engine: %[1]s, role: decode, max_running: 1, prefill_header: %[2]t}
`

// A replica that prefills while another waits for it keeps the request's adapter until then, whatever others ask for.
func TestAPrefillKeepsItsAdapterUntilItIsAsked(t *testing.T) {
	for _, kind := range []string{"vllm", "sglang"} {
		t.Run(kind, func(t *testing.T) {
			engines := halvesEngines()[1:3]
			engines[0].Name, engines[1].Name = "p-0", "d-0"
			engines[0].AdapterSlots, engines[0].PrefillerTimeout = 1, 10*time.Second
			engines[1].PrefillerTimeout = 10 * time.Second
			if kind == "sglang" {
				engines[0].Mode, engines[1].Mode = emulator.ModePrefill, emulator.ModeDecode
			}
			w := newWorld(t, fmt.Sprintf(halvesLoras, kind, kind == "vllm"), engines)
			w.meetAt("p-0")
			eventually(t, "the adapters can be had", func() bool { return len(w.views()["d-0"]) == 2 })
			var asking sync.WaitGroup
			for i, adapter := range strings.Split("abababab", "") {
				asking.Go(func() {
					_, resp := w.says("unary", long("debug", fmt.Sprint(kind, i), ""), "X-Adapter", adapter)
					if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-0=ok" {
						t.Errorf("attempts %s", a)
					}
				})
			}
			asking.Wait()
			remote, local := w.prefilled("remote"), w.prefilled("local")
			if kind == "vllm" && (remote != 8 || local > 0) {
				t.Errorf("%d prompts were computed elsewhere, %d by the engine that answers", remote, local)
			}
			w.baseline()
		})
	}
}
