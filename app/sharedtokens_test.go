package app_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"octet/internal/redistest"
)

// A token rate is charged with what answers cost, and not with what no engine has seen, whether gateways count together
// or each for itself.
func TestATokenRateGoesByWhatAnswersCost(t *testing.T) {
	for _, shared := range []bool{false, true} {
		sets := []string{"auth.anonymous_limits.rate.tokens_per_minute=600"} // ten a second
		if shared {
			sets = append(sets, "auth.shared.addr="+redistest.Start(t).Addr, "auth.shared.timeout=500ms")
		}
		w := newWorld(t, smallWorld, smallEngines(), sets...)
		const path = "/v1/chat/completions"
		for _, name := range []string{"debug-0", "debug-1"} {
			w.Engines[name].Kill()
		}
		failed := 0
		for range 2 { // each is charged most of the rate
			resp, text := w.Post(path, chat("debug", 2, false, strings.Repeat("why ", 400)))
			if resp.StatusCode >= 500 {
				failed++
			} else if resp.StatusCode == 429 && strings.Contains(string(text), "quota_exceeded") {
				t.Fatalf("shared %t: what failed is charged: %s", shared, text)
			}
		}
		if failed == 0 {
			t.Fatal("no request failed")
		}
		begun, cost := time.Now(), 0
		for range 12 {
			var said struct {
				Usage struct {
					Total int `json:"total_tokens"`
				} `json:"usage"`
			}
			_, text := w.Post(path, chat("systems", 300, false, "why?"))
			if err := json.Unmarshal(text, &said); err != nil {
				t.Fatal(err)
			}
			cost += said.Usage.Total
		}
		if most := 600 + 310 + int(10*time.Since(begun).Seconds()); cost < 600 || cost > most {
			t.Errorf("shared %t: %d tokens in %v, want at most %d", shared, cost, time.Since(begun), most)
		}
	}
}
