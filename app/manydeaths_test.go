package app_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/engine/emulator"
)

// crowdWorld has three replicas with room for a thousand.
const crowdWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 30s, idle_timeout: 60s, ttft_timeout: 60s, drain: 5s}
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    scheduler: {max_running: 2048, max_waiting: 4096}
    replicas:
      - {url: "%s", blocks: 65536}
      - {url: "%s", blocks: 65536}
      - {url: "%s", blocks: 65536}
`

const crowdTokens = 24

// struckCrowd is what became of many requests at once.
type struckCrowd struct {
	well, kind, lost atomic.Int32 // kind: broken streams of a kind that cannot go on
}

// With one of three engines killed under many requests, all end well but streams of a kind that cannot go on, which are
// counted: unary answers begin anew, streams go on from their text, whatever the retry budget.
//
//nolint:lll // raw text that cannot be broken
func TestADeathWithManyInFlightCostsNoAnswer(t *testing.T) {
	// of a step, so that the machine keeps up: the first has not ended when the last is in flight, and one engine dies
	sizes := map[int]time.Duration{90: 100 * time.Millisecond, 300: 200 * time.Millisecond}
	if os.Getenv("OCTET_TEST_CROWDS") == "1" {
		sizes[1000] = 400 * time.Millisecond
	}
	for n, step := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var engines []emulator.Config
			for i := range 3 {
				engines = append(engines,
					emulator.Config{Name: fmt.Sprint("debug-", i), Model: "debug", Blocks: 65536, MaxRunning: 2048,
						Step: step, PrefillTPS: 1e7})
			}
			w := newWorld(t, crowdWorld, engines)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
			t.Cleanup(client.CloseIdleConnections)
			for range 12 { // all have answered before
				w.Post("/v1/chat/completions",
					`{"model":"debug","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`)
			}
			var c struckCrowd
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() { w.oneOf(client, i, &c) })
			}
			running := func(name string) int { return w.gate(name).Stats().Running }
			eventually(t, "all are in flight",
				func() bool { return running("debug-0")+running("debug-1")+running("debug-2") == n })
			time.Sleep(5 * step) // real time: streams of some have begun
			// the one with the most in flight: how they divide is what was measured of twelve short answers, stalls included
			victim, struck := "debug-0", running("debug-0")
			for _, name := range []string{"debug-1", "debug-2"} {
				if in := running(name); in > struck {
					victim, struck = name, in
				}
			}
			w.Engines[victim].Kill()
			all.Wait()
			t.Logf("%d in flight, %d of them struck: %d ended well, %d of a kind that cannot go on, %d lost", n, struck,
				c.well.Load(), c.kind.Load(), c.lost.Load())
			if struck < n/5 || int(c.lost.Load())*1000 > n || c.kind.Load() == 0 {
				t.Errorf("%d struck, %d lost, %d of a kind that cannot go on", struck, c.lost.Load(), c.kind.Load())
			}
			if counted := fmt.Sprintf(`octet_streams_lost_total{specialist="debug",why="kind"} %d`, c.kind.Load()); !strings.Contains(w.Metrics(), counted) {
				t.Errorf("the metrics do not say %s", counted)
			}
			eventually(t, "ledgers at their baseline", func() bool { return w.settledBut(victim) })
		})
	}
}

// oneOf is the i-th request of a crowd: streams of chats and completions, unary answers, and some streams whose tokens
// are drawn by a seed.
func (w *world) oneOf(client *http.Client, i int, c *struckCrowd) {
	id, path, kind := fmt.Sprint("r", i), "/v1/chat/completions",
		`"stream":true,"temperature":0,"seed":7,"messages":[{"role":"user","content":"x"}]`
	seeded := i%6 == 0
	switch {
	case seeded:
		kind = `"stream":true,"temperature":0.7,"seed":7,"messages":[{"role":"user","content":"x"}]`
	case i%3 == 1:
		kind = `"temperature":0,"messages":[{"role":"user","content":"x"}]`
	case i%3 == 2:
		path, kind = "/v1/completions", `"stream":true,"temperature":0,"prompt":"x"`
	}
	body := fmt.Sprintf(`{"model":"debug","max_tokens":%d,%s}`, crowdTokens, kind)
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.Data+path, strings.NewReader(body))
	if err != nil {
		w.T.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", id)
	resp, err := client.Do(req)
	if err != nil {
		w.T.Error(err)
		return
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	mode := "unary"
	if strings.Contains(kind, "stream") {
		mode = "streamed"
	}
	switch got := contentOf(mode, answer); {
	case err == nil && resp.StatusCode == 200 && got == indexText(id, crowdTokens):
		c.well.Add(1)
	case seeded && resp.StatusCode == 200 && strings.Contains(string(answer), `"upstream_reset"`):
		c.kind.Add(1)
	default:
		c.lost.Add(1)
		w.T.Logf("%s: status %d, %v: %s", id, resp.StatusCode, err, answer[max(0, len(answer)-200):])
	}
}

// settledBut is quiet without a look at an engine that was killed.
func (w *world) settledBut(dead string) bool {
	killed := w.Engines[dead]
	delete(w.Engines, dead)
	defer func() { w.Engines[dead] = killed }()
	return w.Quiet()
}
