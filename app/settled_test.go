//go:build linux

package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// An open stream holds no goroutine of the gateway, while its engine is silent and while it speaks; and each gets its
// own text, a proper end, and everything is given back.
func TestOpenStreamsHoldNoGoroutines(t *testing.T) {
	const streams = 40
	w := newWorld(t, smallWorld, slowEngines(), "specialists[1].scheduler.max_running=64",
		"specialists[1].context=100000")
	before := ownGoroutines()
	var all sync.WaitGroup
	open := make(chan struct{}, streams)
	for i := range streams {
		id := fmt.Sprintf("settled-%d", i)
		body := strings.Replace(streamed(systems), `"max_tokens":12`, `"max_tokens":90`, 1)
		resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Request-Id", id)
		all.Go(func() {
			_, _ = resp.Body.Read(make([]byte, 1))
			open <- struct{}{}
			if s := readStream(resp.Body); !s.done || !s.clean ||
				!strings.HasSuffix(s.text, fmt.Sprintf("⟦%s:89⟧", id)) {
				t.Errorf("%s: done %v, clean %v, %d events", id, s.done, s.clean, s.events)
			}
		})
	}
	for range streams {
		<-open
	}
	var during int
	eventually(t, "the streams settle", func() bool { during = ownGoroutines() - before; return during < streams/2 })
	t.Logf("%d streams hold %d goroutines", streams, during)
	all.Wait()
	eventually(t, "ledgers at their baseline", w.Quiet)
}
