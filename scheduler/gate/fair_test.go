package gate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"octet/scheduler/queue"
)

// A prompt of 40 tokens before an engine that starts one at a time, behind sixty of another tenant that are as short:
// it is not their number that it waits for.
func TestAShortPromptIsNotBehindFiftyOfAnothers(t *testing.T) {
	for _, size := range []int{40, 2000} {
		gated(t, Config{MaxRunning: 1, MaxWaiting: 100}, func(t *testing.T, g *Gate) {
			running, _, err := g.ask(&Request{ID: "first", Tenant: "heavy", PromptTokens: size})
			if err != nil {
				t.Fatal(err)
			}
			var waiting []*Wait
			for i := range 60 {
				waiting = append(waiting, queues(t, g,
					Request{ID: fmt.Sprint("h", i), Tenant: "heavy", PromptTokens: size}))
			}
			backlog := &g.model.waiting.backlog
			if n := backlog.Newcomer(queue.Rank{}, "light", 0); backlog.AheadOf(&n) > 2 {
				t.Errorf("%d are said to be ahead", backlog.AheadOf(&n))
			}
			light := queues(t, g, Request{ID: "light", Tenant: "light", PromptTokens: 40})
			starts := 0
			for ; !light.gone(); starts++ {
				running.Release()
				if light.gone() {
					break
				}
				i := slices.IndexFunc(waiting, (*Wait).gone)
				running = waiting[i].granted()
				waiting = slices.Delete(waiting, i, i+1)
			}
			if starts > 1 {
				t.Errorf("of %d tokens: %d of the heavy tenant's start before it", size, starts)
			}
		})
	}
}

// A request pays for its answer too: a tenant with long ones starts fewer. One that ends before all that it asked for
// has the rest back.
func TestARequestPaysForItsAnswer(t *testing.T) {
	for _, said := range []int{2, 400} {
		gated(t, Config{MaxRunning: 1, MaxWaiting: 200}, func(t *testing.T, g *Gate) {
			running, _, err := g.ask(&Request{ID: "first"})
			if err != nil {
				t.Fatal(err)
			}
			var waiting []*Wait
			for i := range 60 {
				waiting = append(waiting,
					queues(t, g, Request{ID: fmt.Sprint("t", i), Tenant: "talks", PromptTokens: 100, MaxNew: 400}),
					queues(t, g, Request{ID: fmt.Sprint("b", i), Tenant: "brief", PromptTokens: 100, MaxNew: 2}))
			}
			started := map[string]int{}
			for range 40 {
				time.Sleep(time.Second) // in a bubble
				running.FirstToken()
				if running.lease.tenant == "talks" {
					running.Grow(said)
				} else {
					running.Grow(2)
				}
				running.Release()
				i := slices.IndexFunc(waiting, (*Wait).gone)
				running = waiting[i].granted()
				started[running.lease.tenant]++
				waiting = slices.Delete(waiting, i, i+1)
				if err := g.Check(); err != nil {
					t.Fatal(err)
				}
			}
			share := float64(started["talks"]) / 40
			if said == 400 && share > 0.25 || said == 2 && share < 0.4 {
				t.Errorf("answers of %d tokens beside 2: %v started", said, started)
			}
		})
	}
}
