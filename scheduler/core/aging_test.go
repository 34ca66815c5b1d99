package core

import (
	"fmt"
	"testing"

	"octet/scheduler"
)

// However many wait more urgently, and however many come, a request that has waited (ceiling - priority) x aging is
// behind only those that had come by then. Without aging it would never start.
func TestAgingBoundsWaiting(t *testing.T) {
	for _, aging := range []scheduler.Time{0, 10} {
		t.Run(fmt.Sprint(int64(aging)), func(t *testing.T) {
			c, err := New(Config{Blocks: 100, BlockSize: 4, MaxRunning: 1, MaxWaiting: 1000, TokenBudget: 100,
				Aging: aging, AgingCeiling: 5})
			if err != nil {
				t.Fatal(err)
			}
			add := func(id uint64, priority int, now scheduler.Time) {
				if _, err := c.Add(Request{ID: id, Tokens: []uint32{uint32(id), 1, 2}, Priority: priority, Arrival: now,
					MaxNew: 1}, now); err != nil {
					t.Fatal(err)
				}
			}
			add(1, 5, 0)
			add(2, 0, 0)
			started := scheduler.Time(-1)
			for now := scheduler.Time(0); now < 200 && started < 0; now++ {
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
			want := scheduler.Time(-1)
			if aging > 0 {
				want = 50
			}
			if started != want {
				t.Errorf("started at %d, want %d", started, want)
			}
		})
	}
}
