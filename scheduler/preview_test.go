package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// seatOf is the least that can wait.
type seatOf struct {
	seat[*seatOf]
	cost int
}

func newSeatOf(t *rapid.T, id uint64) *seatOf {
	r := rank{rapid.IntRange(0, 2).Draw(t, "priority"), Time(rapid.IntRange(0, 20).Draw(t, "arrival")), id}
	tenant := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "tenant")
	return &seatOf{newSeat[*seatOf](r, tenant), rapid.IntRange(0, 40).Draw(t, "cost")}
}

func (b *backlog[T]) serve(cost func(T) int) T {
	s := b.top()
	b.charge(s, cost(s))
	b.remove(s)
	return s
}

// MEGA-22: what is foreseen is what comes: the preview plays the turns that the backlog then takes, and changes
// nothing.
func TestPreviewIsWhatComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := backlog[*seatOf]{weight: func(tenant string) int { return int(tenant[0]-'a') + 1 }}
		if rapid.Bool().Draw(t, "ages") {
			b.aging, b.ceiling = 7, 2
		}
		cost := func(s *seatOf) int { return s.cost }
		id, now := uint64(0), Time(0)
		for range rapid.IntRange(0, 40).Draw(t, "before") {
			id++
			now += Time(rapid.IntRange(0, 3).Draw(t, "pause"))
			b.push(newSeatOf(t, id), now)
			b.lift(now)
			if rapid.IntRange(0, 2).Draw(t, "serve") == 0 {
				b.serve(cost)
			}
		}
		asks := newSeatOf(t, id+1)
		n := b.newcomer(asks.rank, asks.tenant, now)
		var p preview[*seatOf]
		var foreseen []uint64
		for range 2 { // twice, in the memory of the first time
			foreseen = foreseen[:0]
			p.before(&b, &n, cost, func(s *seatOf) bool { foreseen = append(foreseen, s.rank.id); return true })
		}
		leads, about := b.leads(&n), b.aheadOf(&n)
		b.push(asks, now)
		if err := b.check(); err != nil {
			t.Fatal(err)
		}
		var came []uint64
		for s := b.serve(cost); s != asks; s = b.serve(cost) {
			came = append(came, s.rank.id)
		}
		if !slices.Equal(foreseen, came) {
			t.Fatalf("foreseen %v, came %v", foreseen, came)
		}
		if leads != (len(came) == 0) || about > len(came)+b.len() {
			t.Fatalf("leads: %t, about %d ahead, and %d came", leads, about, len(came))
		}
	})
}

// MEGA-22: tenants that wait at one Gate share it by their weights, in uncached prompt tokens, whatever order they came
// in.
func TestTenantsShareAGate(t *testing.T) {
	cfg := GateConfig{MaxRunning: 1, MaxWaiting: 100,
		Weights: func(tenant string) int { return map[string]int{"big": 3}[tenant] }}
	gated(t, cfg, func(t *testing.T, g *Gate) {
		running, _, err := g.ask(&GateRequest{ID: "first"})
		if err != nil {
			t.Fatal(err)
		}
		var queue []*waiter
		for i := range 60 { // the small one's sixty come first
			queue = append(queue, queues(t, g, GateRequest{ID: fmt.Sprint("s", i), Tenant: "small", PromptTokens: 100}))
		}
		for i := range 30 {
			queue = append(queue, queues(t, g, GateRequest{ID: fmt.Sprint("b", i), Tenant: "big", PromptTokens: 100}))
		}
		started := map[string]int{}
		for range 32 {
			running.Release()
			i := slices.IndexFunc(queue, (*waiter).gone)
			running = queue[i].ticket
			started[queue[i].tenant]++
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
func queues(t *testing.T, g *Gate, r GateRequest) *waiter {
	t.Helper()
	_, w, err := g.ask(&r)
	if err != nil || w == nil {
		t.Fatalf("%s does not wait: %v", r.ID, err)
	}
	return w
}

// MEGA-22: however many come more urgently, who has waited (ceiling - priority) × aging is behind only those who had
// come by then; and nobody who runs gives way to age.
func TestAgingBoundsWaitingAtAGate(t *testing.T) {
	for name, tt := range map[string]struct {
		aging, later Time
		want         Time
	}{"none": {0, 0, -1}, "from the start": {10, 10, 50}, "switched on": {0, 10, 50}, "switched off": {10, 0, -1}} {
		var now Time
		cfg := GateConfig{MaxRunning: 1, MaxWaiting: 1000, Aging: tt.aging, AgingCeiling: 5,
			Now: func() time.Time { return time.Unix(1, 0).Add(now) }}
		g, err := NewGate(cfg)
		if err != nil {
			t.Fatal(err)
		}
		running, _, _ := g.ask(&GateRequest{ID: "first", Priority: 4, Victim: true})
		old := queues(t, g, GateRequest{ID: "old"})
		queue, started := []*waiter{old}, Time(-1)
		for now = 1; now < 200 && started < 0; now++ {
			if cfg.Aging = tt.later; now == 15 {
				g.Reconfigure(cfg)
			}
			queue = append(queue, queues(t, g, GateRequest{ID: "urgent", Priority: 5}))
			select {
			case <-running.Preempted():
				if now > 1 {
					t.Fatalf("somebody of priority 5 gave way at %d", now)
				}
			default:
			}
			running.Release()
			i := slices.IndexFunc(queue, (*waiter).gone)
			running = queue[i].ticket
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
