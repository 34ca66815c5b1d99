package app_test

import (
	"testing"

	"octet/internal/redistest"
)

const ratedWorld = `
auth: {anonymous: true, anonymous_limits: {rate: {requests_per_second: 0.001, burst: 4}}}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s", blocks: 512}]
`

// Two gateways and one Redis: four requests are four, wherever they come in. Without the Redis each lets its half
// through.
func TestGatewaysShareTheirTenantsRates(t *testing.T) {
	server := redistest.Start(t)
	sets := []string{"auth.shared.addr=" + server.Addr, "auth.shared.timeout=2s"}
	first := newWorld(t, ratedWorld, judgedEngines()[:1], sets...)
	second := newWorld(t, ratedWorld, judgedEngines()[:1], sets...)
	through := func(n int) (ok int) {
		for i := range n {
			w := first
			if i%2 == 1 {
				w = second
			}
			switch resp, body := w.Post("/v1/chat/completions", hello); {
			case resp.StatusCode == 200:
				ok++
			case codeOf(t, body) != "quota_exceeded" || resp.Header.Get("Retry-After") == "":
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
		}
		return ok
	}
	if ok := through(10); ok != 4 {
		t.Errorf("%d of 10 went through, not 4", ok)
	}
	server.Kill()
	if ok := through(10); ok != 4 {
		t.Errorf("%d of 10 went through without the redis, not half of 4 at each", ok)
	}
	if !first.App.Rates().Away() || !second.App.Rates().Away() {
		t.Error("nothing shows that the redis is away")
	}
}
