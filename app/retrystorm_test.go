package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// When everything fails, retries are a tenth of a minute's requests: engines in trouble are not asked twice or three
// times over, and every client is told.
func TestRetriesStayWithinTheFleetsBudgetWhenEverythingFails(t *testing.T) {
	for _, fault := range []string{`"die_before_headers"`, `"die_after_headers"`, `"garbage"`, `"error_event"`,
		`"status","k":500`, `"status","k":503`, `"status","k":429`} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, overloadEngines())
				b.Serve(strings.Replace(overloadWorld, "intents:", "fleet: {breaker: {failures: 10000}}\nintents:", 1))
				time.Sleep(time.Second)
				for _, e := range []string{"debug-0", "debug-1"} {
					resp, err := b.Ask(t.Context(), http.MethodPost, "http://"+e+"/admin/faults",
						fmt.Sprintf(`{"kind":%s,"times":0}`, fault))
					if err != nil {
						t.Fatal(err)
					}
					_ = resp.Body.Close() // only that it was armed matters
				}
				const requests = 600
				var all sync.WaitGroup
				for i := range requests {
					q := customer{id: fmt.Sprint("r", i), stream: i%2 == 0, model: "debug", text: "x", words: 4,
						tokens: 10}
					all.Go(func() {
						if a := b.served(q); !slices.Contains([]string{"upstream_reset", "upstream_protocol_error",
							"overloaded", "queue_full"}, a.failed) {
							t.Errorf("%s: %q", q.id, a.failed)
						}
					})
					time.Sleep(100 * time.Millisecond)
				}
				all.Wait()
				asked := b.Engines["debug-0"].Asked.Load() + b.Engines["debug-1"].Asked.Load()
				t.Logf("%d requests, engines were asked %d times", requests, asked)
				if asked > requests+requests/10 || asked < requests+requests/20 {
					t.Errorf("%d requests, engines were asked %d times", requests, asked)
				}
			})
		})
	}
}
