package app_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"octet/engine/emulator"
)

// shadowedHalves is a specialist of one replica, whose shadow is one of two halves.
const shadowedHalves = `
auth: {anonymous: true}
fleet: {probe_interval: 50ms}
router: {detectors: false}
specialists:
  - {name: debug, tokenizer: builtin, fallback: systems, replicas: [{url: "%%s", blocks: 512}]}
  - name: systems
    tokenizer: builtin
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 0, min_uncached_tokens: 0}
    replicas:
      - {url: "%%s", name: p-0, model: debug, blocks: 256, engine: %[1]s, role: prefill}
      - {url: "%%s", name: d-0, model: debug, blocks: 256, engine: %[1]s, role: decode}
`

// A specialist whose replicas do one part each answers copies, with engines that have to meet as with engines that
// could do without. Where one of two that meet fails, the other is not waited for, and nothing is held.
func TestACopyIsAnsweredByTwoHalves(t *testing.T) {
	for _, kind := range []string{"vllm", "sglang"} {
		t.Run(kind, func(t *testing.T) {
			engines := append(proseEngines()[:1], halvesEngines()[1:3]...)
			engines[1].Name, engines[2].Name = "p-0", "d-0"
			for i := range engines[1:] {
				engines[1+i].PrefillerTimeout, engines[1+i].Text = 10*time.Second, emulator.TextProse
			}
			if kind == "sglang" {
				engines[1].Mode, engines[2].Mode = emulator.ModePrefill, emulator.ModeDecode
			}
			file := filepath.Join(t.TempDir(), "calibration.jsonl")
			w := newWorld(t, fmt.Sprintf(shadowedHalves, kind), engines, "shadow.file="+file, "shadow.stream=")
			w.unsure()
			at, err := url.Parse(w.Engines["p-0"].URL)
			if err != nil {
				t.Fatal(err)
			}
			w.Replica("p-0").BootstrapPort, _ = strconv.Atoi(at.Port())
			for n, stream := range []bool{false, true} {
				resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60 of two halves", stream),
					"X-Intent", "review")
				if resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "systems" {
					t.Fatalf("%d, shadow %q: %s", resp.StatusCode, resp.Header.Get("X-Shadow"), answer)
				}
				if e := w.example(file, n+1); e.Shadow.Specialist != "systems" || e.Answers.Shadow.Bytes == 0 {
					t.Errorf("%+v", e)
				}
			}
			w.baseline()
			if kind != "sglang" {
				return
			}
			w.Fault("p-0", `{"kind":"status","k":500,"times":9}`)
			w.Post("/v1/chat/completions", asking("unsure 0.60 of one half", true), "X-Intent", "review")
			eventually(t, "the copy fails", func() bool {
				return w.counted(`octet_shadows_total{outcome="failed",specialist="systems"} 1`)
			})
			w.baseline()
			if examples, _, _ := recordsOf(t, file); len(examples) != 2 || w.shadows() != 0 {
				t.Errorf("%d examples, %d copies", len(examples), w.shadows())
			}
		})
	}
}
