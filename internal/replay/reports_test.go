package replay

import (
	"testing"
	"time"

	"octet/routing/fleet"
)

// A report is read when it is as old as the delay, and the last one of a moment counts.
func TestReportsAreReadLate(t *testing.T) {
	r, load := reports{delay: 10 * time.Second}, fleet.Load{}
	now := func() fleet.Load { return load }
	for _, step := range []struct{ at, running int }{{1, 1}, {2, 2}, {2, 3}, {13, 4}} {
		load.Running = step.running
		r.note(time.Duration(step.at)*time.Second, now)
	}
	for _, want := range []struct{ at, running int }{{10, 0}, {11, 1}, {12, 3}, {22, 3}, {23, 4}, {60, 4}} {
		if got := r.read(time.Duration(want.at)*time.Second, now).Running; got != want.running {
			t.Errorf("after %d s %d are running, want %d", want.at, got, want.running)
		}
	}
	if got := (&reports{}).read(0, now).Running; got != 4 {
		t.Errorf("without a delay %d are running", got)
	}
}
