package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/engine/emulator"
)

// twins may each prefill for the other, and have room for one request or two.
const twins = `
auth: {anonymous: true}
limits: {max_queue_wait: 20s, ttft_timeout: 10s}
fleet: {probe_interval: 1h, scrape_interval: 1h}
specialists:
  - name: debug
    tokenizer: builtin
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 64, min_uncached_tokens: 0, prefill: {profile: fair}, decode_profile: even}
    replicas:
      - {url: "%s", blocks: 14}
      - {url: "%s", blocks: 14}
profiles:
  fair: {filter: [health, role], pick: round-robin}
  even: {filter: [health, role], pick: random}
`

// Replicas that prefill for each other never wait in a circle, each holding what the other waits for.
func TestTwinsDoNotWaitForEachOther(t *testing.T) {
	one := func(name string) emulator.Config {
		return emulator.Config{Name: name, Model: "debug", Blocks: 64, Step: time.Millisecond, PrefillTPS: 1e4}
	}
	w := newWorld(t, twins, []emulator.Config{one("debug-0"), one("debug-1")})
	var asking sync.WaitGroup
	var mu sync.Mutex
	split, slowest := 0, time.Duration(0)
	for i := range 24 {
		asking.Go(func() {
			began, id := time.Now(), fmt.Sprint("twin", i)
			req, _ := http.NewRequestWithContext(t.Context(), "POST", w.Data+"/v1/chat/completions",
				strings.NewReader(streamed(long("debug", id, ""))))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-Request-Id", id)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if s := readStream(resp.Body); !s.done || s.text != indexText(id, 24) {
				t.Errorf("status %d, %+v", resp.StatusCode, s)
			}
			r := w.receipt(resp)
			mu.Lock()
			defer mu.Unlock()
			slowest = max(slowest, time.Since(began))
			if len(r.Attempts) > 1 {
				split++
			}
		})
	}
	asking.Wait()
	if split == 0 {
		t.Error("no request went to two replicas: nothing was shown")
	}
	if slowest > 15*time.Second {
		t.Errorf("somebody waited for %v, until the queue's bound ended the circle", slowest)
	}
	w.baseline()
}

// GAIE-38: prefill and decode are picked by profiles of their own.
func TestEachStepHasItsProfile(t *testing.T) {
	w := newWorld(t, twins, []emulator.Config{{Name: "debug-0", Model: "debug"}, {Name: "debug-1", Model: "debug"}})
	_, resp := w.says("unary", long("debug", "profiles", ""))
	r := w.receipt(resp)
	if len(r.Routing) != 2 || r.Routing[0].Trace.Profile != "fair" || r.Routing[0].Trace.Role != "prefill" ||
		r.Routing[1].Trace.Profile != "even" || r.Routing[1].Trace.Role != "decode" {
		t.Errorf("routing %+v", r.Routing)
	}
}

// MOD3-42, MOD3-48: by the preset, the replica that decodes is near the one that prefills, with everything else equal.
func TestWhoDecodesIsNearWhoPrefills(t *testing.T) {
	zoned := strings.NewReplacer("profile: unmoved", "profile: disaggregated",
		"name: p-0,", "name: p-0, labels: {region: r, zone: a},", "name: p-1,",
		"name: p-1, labels: {region: r, zone: b},",
		"name: d-0,", "name: d-0, labels: {region: r, zone: b},", "name: d-1,",
		"name: d-1, labels: {region: r, zone: a},").Replace(halves)
	w := newWorld(t, zoned, halvesEngines())
	for i := range 3 {
		_, resp := w.says("unary", long("debug", fmt.Sprint("near", i), ""))
		if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-1=ok" &&
			a != "prefill:p-1=ok, decode:d-0=ok" {
			t.Errorf("attempts %s: not in one zone", a)
		}
	}
	_, resp := w.says("unary", `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"short"}]}`)
	if a := attempts(w.receipt(resp)); a != "decode:d-0=ok" { // near none: the lowest
		t.Errorf("attempts %s", a)
	}
	w.baseline()
}
