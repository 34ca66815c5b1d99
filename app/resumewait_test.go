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

const oneplace = `
auth: {anonymous: true}
limits: {max_queue_wait: WAIT, ttft_timeout: 5s}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 1, max_waiting: 8}
    replicas: [{name: debug-0, url: "http://debug-0", blocks: 512}]
`

// MEGA-46: a stream that gave way waits for max_queue_wait to come back, or for ttft_timeout where no request may
// queue; then it ends in a typed error, never in silence.
func TestAStreamThatGaveWayWaitsForABoundedTime(t *testing.T) {
	for wait, bound := range map[string]time.Duration{"3s": 3 * time.Second, "0s": 5 * time.Second} {
		t.Run(wait, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 1,
					Step: 20 * time.Millisecond}})
				b.Serve(strings.Replace(oneplace, "WAIT", wait, 1))
				time.Sleep(time.Second)
				low := customer{id: "low", priority: -10, stream: true, model: "debug", text: "x", words: 4,
					tokens: 2000}
				high := customer{id: "high", priority: 10, stream: true, model: "debug", text: "x", words: 4,
					tokens: 2000}
				ended := make(chan answered, 1)
				go func() { ended <- b.served(low) }()
				time.Sleep(2 * time.Second)
				began := time.Now()
				served := make(chan answered, 1)
				go func() { served <- b.served(high) }()
				a := <-ended
				if took := time.Since(began); took < bound || took > bound+time.Second {
					t.Errorf("it waited %v, the bound is %v", took, bound)
				}
				if a.failed != "queue_full in the middle" || !strings.HasPrefix(indexText("low", 2000), a.heard) ||
					a.heard == "" {
					t.Errorf("it ended in %q after %d bytes", a.failed, len(a.heard))
				}
				if a := <-served; a.failed != "" || a.heard != indexText("high", 2000) {
					t.Errorf("the urgent one: %q", a.failed)
				}
			})
		})
	}
}

// served asks and reads the answer to its end.
func (b *bubble) served(q customer) answered {
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body(),
		q.headers()...)
	if err != nil {
		b.T.Error(err)
		return answered{failed: err.Error()}
	}
	return q.read(resp)
}
