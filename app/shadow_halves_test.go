package app_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/slo"
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
			w.meetAt("p-0")
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

// A demoted specialist whose engines have to meet recovers by the answers to its probes.
func TestADemotedPairRecoversByItsProbes(t *testing.T) {
	engines := halvesEngines()[1:4]
	engines[0].Name, engines[1].Name, engines[2].Name = "p-0", "d-0", "systems-0"
	engines[0].Mode, engines[1].Mode = emulator.ModePrefill, emulator.ModeDecode
	for i := range engines {
		engines[i].Text = emulator.TextProse // with code, for the verifier
	}
	w := newWorld(t, `
auth: {anonymous: true}
outcomes: {verifier: {sample: 1, workers: 2, command: [sh, -c, 'true', sh, '{}']}}
specialists:
  - name: debug
    tokenizer: builtin
    fallback: systems
    slo: {correctness: {floor: 0.5, min_samples: 5, recover_for: 200ms, probe_share: 1}}
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 0, min_uncached_tokens: 0}
    replicas:
      - {url: "%s", name: p-0, blocks: 256, engine: sglang, role: prefill}
      - {url: "%s", name: d-0, blocks: 256, engine: sglang, role: decode}
  - {name: systems, tokenizer: builtin, replicas: [{url: "%s", name: systems-0, model: debug, blocks: 256}]}
`, engines)
	w.meetAt("p-0")
	code := func(salt string) string {
		return strings.Replace(long("debug", salt, ""), `"max_tokens":24`, `"max_tokens":200`, 1)
	}
	for range 12 {
		w.App.Server().Runtime().Specialist("debug").Board.Outcome(slo.Verdict{Answered: time.Now()})
	}
	if _, resp := w.says("unary", code("demoted")); resp.Header.Get("X-Specialist") != "systems" {
		t.Fatalf("%q answers", resp.Header.Get("X-Specialist"))
	}
	eventually(t, "it answers again", func() bool {
		_, resp := w.answered(code("probed"))
		return resp.Header.Get("X-Specialist") == "debug"
	})
	w.baseline()
}

// meetAt has a replica be met where its engine listens.
func (w *world) meetAt(replica string) {
	w.T.Helper()
	at, err := url.Parse(w.Engines[replica].URL)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Replica(replica).BootstrapPort, _ = strconv.Atoi(at.Port())
}
