package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"octet/scheduler"
)

// seatOf is the least that can wait.
type seatOf struct {
	Entry[*seatOf]
	cost int
}

func newSeatOf(t *rapid.T, id uint64) *seatOf {
	r := Rank{rapid.IntRange(0, 2).Draw(t, "priority"), scheduler.Time(rapid.IntRange(0, 20).Draw(t, "arrival")), id}
	tenant := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "tenant")
	return &seatOf{NewEntry[*seatOf](r, tenant), rapid.IntRange(0, 40).Draw(t, "cost")}
}

func (b *Backlog[T]) serve(cost func(T) int) T {
	s := b.Top()
	b.Charge(s, cost(s))
	b.Remove(s)
	return s
}

// MEGA-22: what is foreseen is what comes: the preview plays the turns that the backlog then takes, and changes
// nothing.
func TestPreviewIsWhatComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Backlog[*seatOf]{Weight: func(tenant string) int { return int(tenant[0]-'a') + 1 }}
		if rapid.Bool().Draw(t, "ages") {
			b.Aging, b.Ceiling = 7, 2
		}
		cost := func(s *seatOf) int { return s.cost }
		id, now := uint64(0), scheduler.Time(0)
		for range rapid.IntRange(0, 40).Draw(t, "before") {
			id++
			now += scheduler.Time(rapid.IntRange(0, 3).Draw(t, "pause"))
			b.Push(newSeatOf(t, id), now)
			b.Lift(now)
			if rapid.IntRange(0, 2).Draw(t, "serve") == 0 {
				b.serve(cost)
			}
		}
		asks := newSeatOf(t, id+1)
		n := b.Newcomer(asks.Rank, asks.Tenant, now)
		var p Preview[*seatOf]
		var foreseen []uint64
		for range 2 { // twice, in the memory of the first time
			foreseen = foreseen[:0]
			p.Before(&b, &n, cost, func(s *seatOf) bool { foreseen = append(foreseen, s.Rank.ID); return true })
		}
		leads, about := b.Leads(&n), b.AheadOf(&n)
		b.Push(asks, now)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		var came []uint64
		for s := b.serve(cost); s != asks; s = b.serve(cost) {
			came = append(came, s.Rank.ID)
		}
		if !slices.Equal(foreseen, came) {
			t.Fatalf("foreseen %v, came %v", foreseen, came)
		}
		if leads != (len(came) == 0) || about > len(came)+b.Len() {
			t.Fatalf("leads: %t, about %d ahead, and %d came", leads, about, len(came))
		}
	})
}
