package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/internal/apptest"
	"octet/slo"
)

const keptVerdicts = `
auth:
  tenants:
    - {name: acme, key_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
specialists:
  - name: debug
    tokenizer: builtin
    replicas:
      - {url: "http://debug-0", engine: vllm, blocks: 512}
`

// acme sends a body as that tenant; the answer must be 200.
func (b *bubble) acme(path, body string) (*http.Response, string) {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data"+path, body, "Authorization",
		"Bearer "+acmeKey)
	if err != nil {
		b.T.Fatal(err)
	}
	text := whole(b.T, resp)
	if resp.StatusCode != http.StatusOK {
		b.T.Fatalf("%s: %d %s", path, resp.StatusCode, text)
	}
	return resp, text
}

// A verdict that is said to count does so in the configuration that comes, whether it was given before that, while it
// was built, or for an answer of the one before.
func TestAReloadThatChangesWindowsLosesNoVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, Step: time.Millisecond}})
		b.Engines["silent"] = &apptest.BubbleEngine{Listener: apptest.NewMemory()} // a build waits for it
		b.Serve(keptVerdicts)
		board := func() *slo.Board { return b.App.Server().Runtime().Specialist("debug").Board }
		before := board()
		const n = 20
		var ids []string
		for range n {
			resp, _ := b.acme("/v1/chat/completions", hello)
			ids = append(ids, resp.Header.Get("X-Receipt-Id"))
		}
		var judging sync.WaitGroup
		judging.Go(func() {
			for i, id := range ids {
				_, said := b.acme("/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":"compile","pass":true}`, id))
				if !strings.Contains(said, `"counted":true`) {
					t.Errorf("%d: %s", i, said)
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
		time.Sleep(125 * time.Millisecond)
		began := time.Now()
		next := keptVerdicts + "      - {url: \"http://silent\", engine: vllm, blocks: 512}\n"
		if err := b.App.Apply(t.Context(), b.Config(next, "specialists[0].slo.window=7m")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 500*time.Millisecond || board() == before {
			t.Fatalf("built in %v, with windows of its own: %v", took, board() != before)
		}
		judging.Wait()
		before.Outcome(slo.Verdict{Answered: time.Now(), Pass: true}) // as the verifier of an answer that took long
		if got := board().Report().Correctness.Samples; got != n+1 {
			t.Errorf("of %d verdicts %d count", n+1, got)
		}
	})
}

// Replicas are probed while a configuration is built that waits for an engine which says nothing.
func TestABuildThatWaitsHoldsUpNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, Step: time.Millisecond}})
		var probes atomic.Int64
		counted := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/health" {
				probes.Add(1)
			}
		})}
		b.Engines["counted"] = &apptest.BubbleEngine{Listener: apptest.NewMemory()}
		b.Engines["silent"] = &apptest.BubbleEngine{Listener: apptest.NewMemory()}
		var serving sync.WaitGroup
		serving.Go(func() { _ = counted.Serve(b.Engines["counted"].Listener) })
		t.Cleanup(func() {
			_ = counted.Close()
			serving.Wait()
		})
		const more = "      - {url: \"http://%s\", engine: vllm, blocks: 512}\n"
		served := keptVerdicts + fmt.Sprintf(more, "counted") + "fleet: {probe_interval: 50ms}\n"
		b.Serve(served)
		time.Sleep(time.Second)
		before, began := probes.Load(), time.Now()
		next := strings.Replace(served, "fleet:", fmt.Sprintf(more, "silent")+"fleet:", 1)
		if err := b.App.Apply(t.Context(), b.Config(next)); err != nil {
			t.Fatal(err)
		}
		took, n := time.Since(began), probes.Load()-before
		if took < 500*time.Millisecond || n < int64(took/(100*time.Millisecond)) {
			t.Errorf("%d probes in the %v of a build", n, took)
		}
	})
}
