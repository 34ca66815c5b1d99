package queue

import (
	"testing"
	"time"
)

func TestDrainIsUnknownUntilMeasuredAndForgotten(t *testing.T) {
	var d DrainRate
	if d.Interval(0) != 0 || d.RetryAfter(3, 0) != 0 {
		t.Error("an interval from nothing")
	}
	d.Mark(time.Second)
	if d.Interval(2*time.Second) != 0 {
		t.Error("an interval from one departure")
	}
	for i := range 200 {
		d.Mark(time.Second + time.Duration(i)*10*time.Millisecond)
	}
	now := time.Second + 199*10*time.Millisecond
	if got := d.Interval(now); got != 10*time.Millisecond {
		t.Errorf("interval is %v", got)
	}
	if got := d.Interval(now + 640*time.Millisecond); got < 20*time.Millisecond || got > 21*time.Millisecond {
		t.Errorf("after as long a silence again the interval is %v", got)
	}
	if got := d.RetryAfter(3, now); got != 30*time.Millisecond {
		t.Errorf("third departure in %v", got)
	}
	if got := d.RetryAfter(1_000_000, now); got != LongestRetry {
		t.Errorf("the cap is %v", got)
	}
	if d.Interval(now+drainWindow) != 0 {
		t.Error("an interval from an old window")
	}
}
