package gate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"octet/scheduler"
)

// MEGA-22: tenants that wait at one Gate share it by their weights, in uncached prompt tokens, whatever order they came
// in.
func TestTenantsShareAGate(t *testing.T) {
	cfg := Config{MaxRunning: 1, MaxWaiting: 100,
		Weights: func(tenant string) int { return map[string]int{"big": 3}[tenant] }}
	gated(t, cfg, func(t *testing.T, g *Gate) {
		running, _, err := g.ask(&Request{ID: "first"})
		if err != nil {
			t.Fatal(err)
		}
		var queue []*Wait
		for i := range 60 { // the small one's sixty come first
			queue = append(queue, queues(t, g, Request{ID: fmt.Sprint("s", i), Tenant: "small", PromptTokens: 100}))
		}
		for i := range 30 {
			queue = append(queue, queues(t, g, Request{ID: fmt.Sprint("b", i), Tenant: "big", PromptTokens: 100}))
		}
		started := map[string]int{}
		for range 32 {
			running.Release()
			i := slices.IndexFunc(queue, (*Wait).gone)
			running = queue[i].granted()
			started[queue[i].waiter.Tenant]++
			queue = slices.Delete(queue, i, i+1)
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if started["small"] != 8 || started["big"] != 24 {
			t.Errorf("of 32 starts %v, want 8 and 24", started)
		}
	})
}

// queues asks for r, which is to wait.
func queues(t *testing.T, g *Gate, r Request) *Wait {
	t.Helper()
	_, w, err := g.ask(&r)
	if err != nil || w == nil {
		t.Fatalf("%s does not wait: %v", r.ID, err)
	}
	return w
}

// MEGA-22: however many come more urgently, a request that has waited (ceiling - priority) × aging is behind only those
// that had come by then; and no running request gives way to age.
func TestAgingBoundsWaitingAtAGate(t *testing.T) {
	for name, tt := range map[string]struct {
		aging, later scheduler.Time
		want         scheduler.Time
	}{"none": {0, 0, -1}, "from the start": {10, 10, 50}, "switched on": {0, 10, 50}, "switched off": {10, 0, -1}} {
		var now scheduler.Time
		cfg := Config{MaxRunning: 1, MaxWaiting: 1000, Aging: tt.aging, AgingCeiling: 5,
			Now: func() time.Time { return time.Unix(1, 0).Add(now) }}
		g, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		running, _, _ := g.ask(&Request{ID: "first", Priority: 4, Victim: true})
		old := queues(t, g, Request{ID: "old"})
		queue, started := []*Wait{old}, scheduler.Time(-1)
		for now = 1; now < 200 && started < 0; now++ {
			if cfg.Aging = tt.later; now == 15 {
				g.Reconfigure(cfg)
			}
			queue = append(queue, queues(t, g, Request{ID: "urgent", Priority: 5}))
			if running.Yielding() && now > 1 {
				t.Fatalf("a request of priority 5 gave way at %d", now)
			}
			running.Release()
			i := slices.IndexFunc(queue, (*Wait).gone)
			running = queue[i].granted()
			if queue[i] == old {
				started = now
			}
			queue = slices.Delete(queue, i, i+1)
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if started != tt.want {
			t.Errorf("%s: started at %d, want %d", name, started, tt.want)
		}
	}
}
