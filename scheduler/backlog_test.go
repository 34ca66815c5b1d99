package scheduler

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Between two tenants that have somebody waiting all the time, the tokens that they started, each over its weight,
// differ by no more than the largest request of each.
func TestTenantsShareWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 5), 2, 5).Draw(t, "weights")
		names, weight := map[string]int{}, func(tenant string) int { return weights[tenant[0]-'a'] }
		for i := range weights {
			names[string(rune('a'+i))] = i
		}
		largest := rapid.IntRange(1, 300).Draw(t, "largest")
		b := backlog[*sequence]{weight: weight}
		id, started := uint64(0), make([]int, len(weights))
		add := func(tenant string) {
			id++
			b.push(&sequence{seat: newSeat[*sequence](rank{0, Time(id), id}, tenant),
				req: Request{ID: id, Tenant: tenant}}, 0)
		}
		for i := range weights {
			add(string(rune('a' + i)))
			add(string(rune('a' + i)))
		}
		last := make([]uint64, len(weights))
		for range 300 {
			s := b.top()
			who := names[s.req.Tenant]
			if s.req.ID < last[who] {
				t.Fatalf("%d of %q starts behind %d", s.req.ID, s.req.Tenant, last[who])
			}
			last[who] = s.req.ID
			cost := rapid.IntRange(1, largest).Draw(t, "cost")
			b.charge(s, cost)
			b.remove(s)
			add(s.req.Tenant)
			started[who] += cost
			if err := b.check(); err != nil {
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
	b := backlog[*sequence]{}
	id := uint64(0)
	add := func(tenant string) *sequence {
		id++
		s := &sequence{seat: newSeat[*sequence](rank{0, Time(id), id}, tenant), req: Request{ID: id, Tenant: tenant}}
		b.push(s, 0)
		return s
	}
	greedy := add("greedy")
	for range 8 {
		add("modest")
	}
	b.charge(greedy, 50)
	b.remove(greedy)
	add("greedy") // comes back at once
	order := ""
	for b.len() > 0 {
		s := b.top()
		order += s.req.Tenant[:1]
		b.charge(s, 10)
		b.remove(s)
	}
	if want := "mmmmmgmmm"; order != want { // 50 tokens are five rounds
		t.Errorf("%s, want %s", order, want)
	}
}

// However many wait more urgently, and however many come, who has waited (ceiling - priority) x aging is behind only
// those who had come by then. Without aging it would never start.
func TestAgingBoundsWaiting(t *testing.T) {
	for _, aging := range []Time{0, 10} {
		t.Run(fmt.Sprint(int64(aging)), func(t *testing.T) {
			c, err := NewCore(CoreConfig{Blocks: 100, BlockSize: 4, MaxRunning: 1, MaxWaiting: 1000, TokenBudget: 100,
				Aging: aging, AgingCeiling: 5})
			if err != nil {
				t.Fatal(err)
			}
			add := func(id uint64, priority int, now Time) {
				if _, err := c.Add(Request{ID: id, Tokens: []uint32{uint32(id), 1, 2}, Priority: priority, Arrival: now,
					MaxNew: 1}, now); err != nil {
					t.Fatal(err)
				}
			}
			add(1, 5, 0)
			add(2, 0, 0)
			started := Time(-1)
			for now := Time(0); now < 200 && started < 0; now++ {
				add(uint64(now)+10, 5, now) // one comes for each that goes
				b := c.Assemble(now)
				if b.Items[0].ID == 2 {
					started = now
				}
				c.Commit(b, []Result{{ID: b.Items[0].ID, Tokens: []uint32{1}}}, now)
				if err := c.Check(); err != nil {
					t.Fatal(err)
				}
			}
			want := Time(-1)
			if aging > 0 {
				want = 50
			}
			if started != want {
				t.Errorf("started at %d, want %d", started, want)
			}
		})
	}
}
