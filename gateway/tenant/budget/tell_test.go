package budget

import (
	"testing"
	"time"
)

// What is owed is counted here at once, and by all gateways once it is told: in the day and the month that it came in,
// each once, though the redis was away.
func TestWhatIsOwedIsToldInItsOwnDay(t *testing.T) {
	r := &redis{counts: map[string]int64{}}
	l, other := NewLedger(r, 2), NewLedger(r, 2).Of("a")
	a := l.Of("a")
	evening, morning := at("2026-11-30 23:59:00"), at("2026-12-01 00:01:00")
	a.Owe(evening, evening, 30)
	if len(r.counts) != 0 {
		t.Errorf("redis was asked: %v", r.counts)
	}
	r.down = true
	l.Tell()
	a.Owe(morning, morning, 5)
	a.Owe(evening, morning, 7) // of an answer that ended late
	r.down = false
	l.Tell()
	l.Tell()
	for when, want := range map[time.Time][2]int64{evening: {37, 37}, morning: {5, 5}} {
		if u := other.Usage(when); u.Day.Tokens != want[0] || u.Month.Tokens != want[1] {
			t.Errorf("%v: %+v", when, u)
		}
	}
	if u := a.Usage(morning); u.Day.Tokens != 5 || u.Month.Tokens != 5 || u.Stale {
		t.Errorf("here: %+v", u)
	}
	next := at("2026-12-02 12:00:00")
	a.Owe(next, next, 1) // the day that was used last is the one that is kept beside it
	a.Owe(morning, next, 2)
	l.Tell()
	if u := other.Usage(morning); u.Day.Tokens != 7 || u.Month.Tokens != 8 {
		t.Errorf("of the day before: %+v", u)
	}
	if times := a.owing(); len(times) != 0 {
		t.Errorf("%v are still owed", times)
	}
}
