package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"octet/scheduler"
)

// fairWorld is a backlog of tenants whose requests cost very different things, and beside it what each has started.
type fairWorld struct {
	b       Backlog[*seatOf]
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
	w.b.Weight = func(tenant string) int { return w.weights[tenant] }
	return w
}

func (w *fairWorld) add(tenant string) *seatOf {
	w.id++
	s := &seatOf{NewEntry[*seatOf](Rank{0, scheduler.Time(w.id), w.id}, tenant), w.costs[tenant]}
	w.b.Push(s, 0)
	w.waiting[tenant] = append(w.waiting[tenant], s)
	return s
}

func (w *fairWorld) start(t *rapid.T) *seatOf {
	s := w.b.serve(func(s *seatOf) int { return rapid.IntRange(0, s.cost).Draw(t, "took") })
	w.waiting[s.Tenant] = slices.DeleteFunc(w.waiting[s.Tenant], func(o *seatOf) bool { return o == s })
	if err := w.b.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

// The published bound: a tenant that comes without a debt is behind at most one request of each other tenant, however
// small its own are and however large theirs, and whatever was started before it came.
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
			if w.b.Len() > 1 {
				w.start(t)
			}
		}
		if rapid.Bool().Draw(t, "in debt before") { // and paid since: nothing of it is left
			w.b.Bill(&Newcomer{Tenant: light}, 1)
			for a := w.b.lanes[0].accounts[light]; a != nil && w.b.Len() > 1; a = w.b.lanes[0].accounts[light] {
				w.start(t)
			}
			if w.b.lanes[0].accounts[light] != nil {
				return
			}
		}
		s := w.add(light)
		n := Newcomer{Rank: s.Rank, Tenant: light}
		if about := w.b.Ahead(1); about != 0 || n.Level != 0 {
			t.Fatalf("%d wait above", about)
		}
		ahead := map[string]int{}
		for got := w.start(t); got != s; got = w.start(t) {
			if ahead[got.Tenant]++; ahead[got.Tenant] > 1 {
				t.Fatalf("%d of %q (up to %d each) start before one of %d", ahead[got.Tenant], got.Tenant,
					w.costs[got.Tenant], s.cost)
			}
		}
	})
}
