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

// MEGA-22: a request that starts past the head has its tenant pay. What is next by that starts as well, if it fits.
func TestWhatIsNextByAnothersBillStarts(t *testing.T) {
	gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: 10, MaxWaiting: 10}, func(t *testing.T, g *Gate) {
		running := admitted(t, g, Request{ID: "running", PromptTokens: 6 * 16})
		large := queues(t, g, Request{ID: "large", Tenant: "a", PromptTokens: 8 * 16})
		small := queues(t, g, Request{ID: "small", Tenant: "b", PromptTokens: 15})
		if large.gone() || small.gone() {
			t.Fatal("a request passes the head of another tenant")
		}
		earlier := admitted(t, g, Request{ID: "earlier", Tenant: "a", PromptTokens: 15, Arrived: time.Unix(1, 0)})
		if large.gone() || !small.gone() {
			t.Errorf("the large one has started: %t, the small one of the tenant that is next: %t", large.gone(),
				small.gone())
		}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		running.Release()
		earlier.Release()
		small.granted().Release()
		large.granted().Release()
	})
}

// MEGA-22: what a stream had said before it came here was another engine's work. Its tenant does not pay for it here.
func TestAContinuationPaysForWhatItSaysHere(t *testing.T) {
	gated(t, Config{MaxRunning: 1, MaxWaiting: 10}, func(t *testing.T, g *Gate) {
		running := admitted(t, g, Request{ID: "first", Tenant: "other"})
		went := queues(t, g, Request{ID: "continued", Tenant: "a", PromptTokens: 100, MaxNew: 400, Resume: 300})
		next := queues(t, g, Request{ID: "next", Tenant: "a", PromptTokens: 100})
		x := queues(t, g, Request{ID: "x", Tenant: "b", PromptTokens: 500, MaxNew: 1})
		y := queues(t, g, Request{ID: "y", Tenant: "b", PromptTokens: 500, MaxNew: 1})
		running.Release()
		continued := went.granted()
		continued.Grow(320) // 400 of the prompt and 20 of the answer: less than the 501 that x costs
		continued.Release()
		answered := x.granted()
		answered.Grow(1)
		answered.Release()
		if !next.gone() || y.gone() {
			t.Errorf("tenant a has had 420 tokens and starts: %t; b has had 501 and starts: %t", next.gone(), y.gone())
		}
		next.granted().Release()
		y.granted().Release()
	})
}
