package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

const budgetWorld = `
auth:
  anonymous: true
  tenants:
    - {name: acme, key_sha256: ` + keySHA + `, budget: {tokens_per_day: 2000}}
fleet: {probe_interval: 1s}
limits: {max_queue_wait: 12s, ttft_timeout: 30s}
specialists:
  - name: debug
    tokenizer: builtin
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
`

// A request that the engine refuses, after the gateway had a place for it, costs its tenant nothing.
func TestARequestThatItsEngineRefusesCostsNothing(t *testing.T) {
	prompt := strings.Repeat("word ", 300)
	for name, c := range map[string]struct {
		fault  string // the engine's, in its admin's words; "" is that it is full with others' requests
		status int
	}{
		"it is full":   {"", http.StatusTooManyRequests},
		"a status 500": {`{"kind":"status","k":500,"times":100}`, http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := sleeperEngine("debug-0")
				e.Asleep, e.MaxRunning, e.MaxWaiting = false, 1, 1
				b := newBubble(t, []emulator.Config{e})
				b.Serve(budgetWorld)
				time.Sleep(3 * time.Second)
				if c.fault != "" {
					b.post("http://debug-0/admin/faults", c.fault)
				}
				for range 2 {
					if c.fault == "" {
						go b.post("http://debug-0/v1/chat/completions", chat("debug", 6000, false, "x"))
					}
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(time.Second)
				for range 6 {
					got := b.reply("/v1/chat/completions", chat("debug", 8, false, prompt), "Authorization",
						"Bearer "+key)
					if got.status != c.status {
						t.Errorf("status %d: %.200s", got.status, got.text)
					}
					time.Sleep(2 * time.Second)
				}
				if used := b.usage(); !strings.Contains(used, `"tokens":0,`) {
					t.Errorf("%s", used)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// usage returns what acme has used.
func (b *bubble) usage() string {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodGet, "http://data/v1/usage", "", "Authorization", "Bearer "+key)
	if err != nil {
		b.T.Fatal(err)
	}
	return whole(b.T, resp)
}

const lostWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1s}
specialists:
  - name: debug
    tokenizer: builtin
    adapters: [{name: gdb-v2, path: /models/gdb-v2, version: "1", replicas: 1}]
    adapter_slots: 2
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
`

// An engine that serves a door has lost a request's adapter: that it says so is not taken for its having no such door.
func TestALostAdapterIsNotALostDoor(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/messages":  `{"model":"debug","max_tokens":8,"messages":[{"role":"user","content":"x"}]}`,
		"/v1/responses": `{"model":"debug","max_output_tokens":8,"store":false,"input":"x"}`,
	} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := sleeperEngine("debug-0")
				e.Asleep, e.AdapterLoad = false, 20*time.Millisecond
				e.Doors = []string{emulator.DoorMessages, emulator.DoorResponses}
				b := newBubble(t, []emulator.Config{e})
				b.Serve(lostWorld)
				time.Sleep(5 * time.Second)
				for i, headers := range [][]string{{}, {"X-Adapter", "gdb-v2"}, {"X-Adapter", "gdb-v2"}, {}} {
					if i == 2 {
						b.post("http://debug-0/v1/unload_lora_adapter", `{"lora_name":"gdb-v2"}`)
					}
					resp, err := b.Ask(t.Context(), http.MethodPost, "http://data"+path, body, headers...)
					if err != nil {
						t.Fatal(err)
					}
					text := whole(t, resp)
					if resp.StatusCode != 200 || resp.Header.Get("X-Door") != "native" {
						t.Errorf("%d: status %d, %s: %.200s", i, resp.StatusCode, resp.Header["X-Door"], text)
					}
				}
			})
		})
	}
}
