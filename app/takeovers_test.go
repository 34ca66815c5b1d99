package app_test

import (
	"fmt"
	"strings"
	"testing"

	"octet/engine/emulator"
)

// A takeover that fails and is followed by another gives back its ticket, its entry in the ledger and its connection,
// whatever it failed of and however the stream ends.
func TestTakeoversThatFailGiveEverythingBack(t *testing.T) {
	const four = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 2s, ttft_timeout: 1s, continuations: 3, retry_burst: 1000}
fleet: {probe_interval: 20ms, breaker: {failures: 1000}}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    replicas: [{url: "%s", blocks: 512}, {url: "%s", blocks: 512}, {url: "%s", blocks: 512}, {url: "%s", blocks: 512}]
`
	var engines []emulator.Config
	for i := range 4 {
		engines = append(engines,
			emulator.Config{Name: fmt.Sprint("debug-", i), Model: "debug", Blocks: 512, MaxRunning: 4})
	}
	w := newWorld(t, four, engines)
	body := continuable["/v1/chat/completions"]
	w.Post("/v1/chat/completions", body)
	eventually(t, "ledgers at their baseline", w.Quiet)
	baseline := ownGoroutines()
	for _, fault := range []string{`"die_before_headers"`, `"die_after_headers"`, `"error_event"`, `"garbage"`,
		`"hang"`, `"status","k":500`, `"status","k":429`, `"bad_head"`} {
		for _, failing := range []int{2, 3} {
			first := w.next(body)
			w.Fault(first, `{"kind":"die_after_tokens","k":3,"times":1}`)
			armed := 0
			for name := range w.Engines {
				if name != first && armed < failing {
					w.Fault(name, `{"times":1,"kind":`+fault+`}`)
					armed++
				}
			}
			resp, answer := w.Post("/v1/chat/completions", body, "X-Request-Id", "cut")
			s := readStream(strings.NewReader(string(answer)))
			late := fault == `"hang"` // the time of the stream is up with it
			if resp.StatusCode != 200 || failing == 2 && !s.done && !late || !s.done && s.failed == nil ||
				!strings.HasPrefix(indexText("cut", 40), s.text) {
				t.Errorf("%s at %d: status %d, %+v", fault, failing, resp.StatusCode, s)
			}
			w.forgetFaults()
			eventually(t, "ledgers at their baseline", w.Quiet)
			eventually(t, "every breaker admits", func() bool {
				for _, r := range w.Replicas() {
					if !r.Fleet.Admits() || !r.Fleet.Healthy() || r.Fleet.InFlight() != 0 {
						return false
					}
				}
				return true
			})
		}
	}
	eventually(t, fmt.Sprintf("goroutines at their baseline of %d", baseline),
		func() bool { return ownGoroutines() <= baseline+4 })
}

func (w *world) forgetFaults() {
	for name := range w.Engines {
		w.clearFaults(name)
	}
}
