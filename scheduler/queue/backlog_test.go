package queue

import (
	"testing"

	"pgregory.net/rapid"

	"octet/scheduler"
)

// Between two tenants that have requests waiting all the time, the tokens that they started, each over its weight,
// differ by no more than the largest request of each.
func TestTenantsShareWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 5), 2, 5).Draw(t, "weights")
		names, weight := map[string]int{}, func(tenant string) int { return weights[tenant[0]-'a'] }
		for i := range weights {
			names[string(rune('a'+i))] = i
		}
		largest := rapid.IntRange(1, 300).Draw(t, "largest")
		b := Backlog[*seatOf]{Weight: weight}
		id, started := uint64(0), make([]int, len(weights))
		add := func(tenant string) {
			id++
			b.Push(&seatOf{Entry: NewEntry[*seatOf](Rank{0, scheduler.Time(id), id}, tenant)}, 0)
		}
		for i := range weights {
			add(string(rune('a' + i)))
			add(string(rune('a' + i)))
		}
		last := make([]uint64, len(weights))
		for range 300 {
			s := b.Top()
			who := names[s.Tenant]
			if s.Rank.ID < last[who] {
				t.Fatalf("%d of %q starts behind %d", s.Rank.ID, s.Tenant, last[who])
			}
			last[who] = s.Rank.ID
			cost := rapid.IntRange(1, largest).Draw(t, "cost")
			b.Charge(s, cost)
			b.Remove(s)
			add(s.Tenant)
			started[who] += cost
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			for i, x := range started {
				for j, y := range started {
					apart := float64(x)/float64(weights[i]) - float64(y)/float64(weights[j])
					bound := float64(largest)/float64(weights[i]) + float64(largest)/float64(weights[j])
					if apart > bound+0.01 { // tags are rounded
						t.Fatalf("%v started at weights %v, at most %v apart", started, weights, bound)
					}
				}
			}
		}
	})
}

// A tenant that leaves with a debt finds it again, as long as others are waiting.
func TestLeavingPaysNoDebt(t *testing.T) {
	b := Backlog[*seatOf]{}
	id := uint64(0)
	add := func(tenant string) *seatOf {
		id++
		s := &seatOf{Entry: NewEntry[*seatOf](Rank{0, scheduler.Time(id), id}, tenant)}
		b.Push(s, 0)
		return s
	}
	greedy := add("greedy")
	for range 8 {
		add("modest")
	}
	b.Charge(greedy, 50)
	b.Remove(greedy)
	add("greedy") // comes back at once
	order := ""
	for b.Len() > 0 {
		s := b.Top()
		order += s.Tenant[:1]
		b.Charge(s, 10)
		b.Remove(s)
	}
	if want := "mmmmmgmmm"; order != want { // 50 tokens are five rounds
		t.Errorf("%s, want %s", order, want)
	}
}
