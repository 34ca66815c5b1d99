package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fairWorld is a backlog of tenants whose requests cost very different things, and beside it what each has started.
type fairWorld struct {
	b       backlog[*seatOf]
	costs   map[string]int // of each of a tenant's requests, at most
	weights map[string]int
	id      uint64
	waiting map[string][]*seatOf
}

func newFairWorld(t *rapid.T) *fairWorld {
	w := &fairWorld{costs: map[string]int{}, weights: map[string]int{}, waiting: map[string][]*seatOf{}}
	for i := range rapid.IntRange(2, 6).Draw(t, "tenants") {
		name := string(rune('a' + i))
		w.costs[name] = rapid.SampledFrom([]int{1, 40, 64, 2048, 100_000}).Draw(t, "cost")
		w.weights[name] = rapid.SampledFrom([]int{1, 2, 7}).Draw(t, "weight")
	}
	w.b.weight = func(tenant string) int { return w.weights[tenant] }
	return w
}

func (w *fairWorld) add(tenant string) *seatOf {
	w.id++
	s := &seatOf{newSeat[*seatOf](rank{0, Time(w.id), w.id}, tenant), w.costs[tenant]}
	w.b.push(s, 0)
	w.waiting[tenant] = append(w.waiting[tenant], s)
	return s
}

func (w *fairWorld) start(t *rapid.T) *seatOf {
	s := w.b.serve(func(s *seatOf) int { return rapid.IntRange(0, s.cost).Draw(t, "took") })
	w.waiting[s.tenant] = slices.DeleteFunc(w.waiting[s.tenant], func(o *seatOf) bool { return o == s })
	if err := w.b.check(); err != nil {
		t.Fatal(err)
	}
	return s
}

// The published bound: whoever comes without a debt is behind at most one request of each other tenant, however small
// its own are and however large theirs, and whatever was started before it came.
func TestATenantBelowItsShareWaitsForOneRequestOfEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFairWorld(t)
		light := "a"
		for tenant := range w.costs {
			if tenant != light {
				for range rapid.IntRange(1, 60).Draw(t, "waiting") {
					w.add(tenant)
				}
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "before") {
			if w.b.len() > 1 {
				w.start(t)
			}
		}
		if rapid.Bool().Draw(t, "in debt before") { // and paid since: nothing of it is left
			w.b.bill(&newcomer{tenant: light}, 1)
			for a := w.b.lanes[0].accounts[light]; a != nil && w.b.len() > 1; a = w.b.lanes[0].accounts[light] {
				w.start(t)
			}
			if w.b.lanes[0].accounts[light] != nil {
				return
			}
		}
		s := w.add(light)
		n := newcomer{rank: s.rank, tenant: light}
		if about := w.b.ahead(1); about != 0 || n.level != 0 {
			t.Fatalf("%d wait above", about)
		}
		ahead := map[string]int{}
		for got := w.start(t); got != s; got = w.start(t) {
			if ahead[got.tenant]++; ahead[got.tenant] > 1 {
				t.Fatalf("%d of %q (up to %d each) start before one of %d", ahead[got.tenant], got.tenant,
					w.costs[got.tenant], s.cost)
			}
		}
	})
}

// A prompt of 40 tokens before an engine that starts one at a time, behind sixty of another tenant that are as short:
// it is not their number that it waits for.
func TestAShortPromptIsNotBehindFiftyOfAnothers(t *testing.T) {
	for _, size := range []int{40, 2000} {
		gated(t, GateConfig{MaxRunning: 1, MaxWaiting: 100}, func(t *testing.T, g *Gate) {
			running, _, err := g.ask(&GateRequest{ID: "first", Tenant: "heavy", PromptTokens: size})
			if err != nil {
				t.Fatal(err)
			}
			var queue []*waiter
			for i := range 60 {
				queue = append(queue, queues(t, g,
					GateRequest{ID: fmt.Sprint("h", i), Tenant: "heavy", PromptTokens: size}))
			}
			if n := g.waiting.newcomer(rank{}, "light", 0); g.waiting.aheadOf(&n) > 2 {
				t.Errorf("%d are said to be ahead", g.waiting.aheadOf(&n))
			}
			light := queues(t, g, GateRequest{ID: "light", Tenant: "light", PromptTokens: 40})
			starts := 0
			for ; !light.gone(); starts++ {
				running.Release()
				if light.gone() {
					break
				}
				i := slices.IndexFunc(queue, (*waiter).gone)
				running = queue[i].ticket
				queue = slices.Delete(queue, i, i+1)
			}
			if starts > 1 {
				t.Errorf("of %d tokens: %d of the heavy tenant's start before it", size, starts)
			}
		})
	}
}

// A request pays for its answer too: who has long ones starts fewer. One that ends before all that it asked for has the
// rest back.
func TestARequestPaysForItsAnswer(t *testing.T) {
	for _, said := range []int{2, 400} {
		gated(t, GateConfig{MaxRunning: 1, MaxWaiting: 200}, func(t *testing.T, g *Gate) {
			running, _, err := g.ask(&GateRequest{ID: "first"})
			if err != nil {
				t.Fatal(err)
			}
			var queue []*waiter
			for i := range 60 {
				queue = append(queue,
					queues(t, g, GateRequest{ID: fmt.Sprint("t", i), Tenant: "talks", PromptTokens: 100, MaxNew: 400}),
					queues(t, g, GateRequest{ID: fmt.Sprint("b", i), Tenant: "brief", PromptTokens: 100, MaxNew: 2}))
			}
			started := map[string]int{}
			for range 40 {
				time.Sleep(time.Second) // in a bubble
				running.FirstToken()
				if running.tenant == "talks" {
					running.Grow(said)
				} else {
					running.Grow(2)
				}
				running.Release()
				i := slices.IndexFunc(queue, (*waiter).gone)
				running = queue[i].ticket
				started[running.tenant]++
				queue = slices.Delete(queue, i, i+1)
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
