package app_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"octet/routing/fleet"
)

// DYN-02: what a request has to have computed counts at its replica from the routing on, without what the cache saves,
// and no longer than until its first token; what it decodes counts until its end.
func TestPrefillCountsUntilTheFirstToken(t *testing.T) {
	w := newWorld(t, worldWith("dynamo-kv", ""), smallEngines())
	body := strings.Replace(chatOf(strings.Repeat("a shared and rather long preamble; ", 30)), `{`, `{"stream":true,`,
		1)
	held := func(fault string, counts func(l fleet.Load) bool) (l fleet.Load) {
		for _, name := range []string{"debug-0", "debug-1"} {
			w.Fault(name, fault)
		}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		var asking sync.WaitGroup
		asking.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if resp, err := http.DefaultClient.Do(r); err == nil {
				_ = readStream(resp.Body)
				resp.Body.Close()
			}
		})
		eventually(t, "the request counts", func() bool {
			for _, name := range []string{"debug-0", "debug-1"} {
				if l = w.Replica(name).Fleet.Load(); l.InFlight == 1 && counts(l) {
					return true
				}
			}
			return false
		})
		leave()
		asking.Wait()
		for _, name := range []string{"debug-0", "debug-1"} {
			w.clearFaults(name)
		}
		eventually(t, "nothing counts", w.Quiet)
		return l
	}
	cold := held(`{"kind":"hang"}`, func(l fleet.Load) bool { return l.Backlog > 0 })
	if cold.Backlog < 200 || cold.Tokens < cold.Backlog {
		t.Errorf("before the first token: %+v", cold)
	}
	begun := held(`{"kind":"hang_after_tokens","k":1}`, func(l fleet.Load) bool { return l.Backlog == 0 })
	if begun.Tokens == 0 {
		t.Errorf("after the first token: %+v", begun)
	}
	w.heard()
	warm := held(`{"kind":"hang"}`, func(l fleet.Load) bool { return l.Backlog > 0 })
	if warm.Backlog > cold.Backlog/2 {
		t.Errorf("%d tokens count though the replica holds most, %d did before", warm.Backlog, cold.Backlog)
	}
}
