package core

import (
	"errors"
	"testing"
	"time"

	"octet/scheduler"
)

// One ends each 100ms: a place in the queue is a time, and a full queue has a place after one.
func TestCoreEstimatesFromItsDrain(t *testing.T) {
	c, err := New(Config{Blocks: 64, BlockSize: 4, MaxRunning: 1, MaxWaiting: 12, TokenBudget: 64})
	if err != nil {
		t.Fatal(err)
	}
	now := scheduler.Time(0)
	for id := range uint64(10) {
		if a, err := c.Add(asking(id, 4, 1), now); err != nil || a.Estimate != 0 {
			t.Fatalf("%v, %v before anything was measured", a, err)
		}
	}
	for range 8 {
		now += 100 * time.Millisecond
		b := c.Assemble(now)
		c.Commit(b, []Result{{ID: b.Items[0].ID, Tokens: []uint32{1}}}, now)
	}
	for i, want := range []time.Duration{300, 400, 100, 600} {
		r := asking(uint64(20+i), 4, 1)
		if i == 2 {
			r.Priority = 1
		}
		if a, err := c.Add(r, now); err != nil || a.State == scheduler.Waiting && a.Estimate != want*time.Millisecond {
			t.Errorf("%d: %v in %v, %v", i, a.State, a.Estimate, err)
		}
	}
	for id := range uint64(6) {
		if _, err = c.Add(asking(40+id, 4, 1), now); err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.Add(asking(50, 4, 1), now)
	var r *scheduler.Refusal
	if !errors.As(err, &r) || !errors.Is(r, scheduler.ErrQueueFull) || r.RetryAfter != 100*time.Millisecond {
		t.Errorf("refused with %v", err)
	}
}
