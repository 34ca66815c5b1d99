package dispatch

import (
	"sync/atomic"
	"testing"
	"time"
)

func drained(b *Budget, now time.Time) (n int) {
	for b.Take(now) {
		n++
	}
	return n
}

// Of the requests of the last minute, or of those in flight where they are more, a share may be retries; a few always
// may.
func TestTheRetryBudgetIsAShareOfAMinutesRequests(t *testing.T) {
	var open atomic.Int64
	b, now := NewBudget(open.Load), time.Unix(1e9, 0)
	if drained(b, now) != 0 {
		t.Error("a budget of zero paid for a retry")
	}
	b.Set(0.1, 10)
	if n := drained(b, now); n != 10 {
		t.Errorf("a quiet gateway may make %d retries, want 10", n)
	}
	for range 300 {
		b.Earn(now)
	}
	if n := drained(b, now); n != 20 {
		t.Errorf("300 requests pay for %d retries more, want 20", n)
	}
	open.Store(1000)
	if n := drained(b, now); n != 70 {
		t.Errorf("1000 in flight pay for %d retries more, want 70", n)
	}
	now = now.Add(66 * time.Second)
	if left := b.Left(now); left != 100 {
		t.Errorf("%d retries are left a minute later, want 100", left)
	}
	open.Store(0)
	b.note(now)
	if left := b.Left(now); left != 9 {
		t.Errorf("%d retries are left of ten after a free one, want 9", left)
	}
}

// Over any minute of requests at a steady pace that all fail, the budget grants a tenth of them.
func TestARetryStormIsATenthOverAMinute(t *testing.T) {
	b, now := NewBudget(new(atomic.Int64).Load), time.Unix(1e9, 0)
	b.Set(0.1, 10)
	for minute := range 5 {
		requests, retries := 0, 0
		for range 600 {
			b.Earn(now)
			if requests++; b.Take(now) {
				retries++
			}
			now = now.Add(100 * time.Millisecond)
		}
		if retries*10 > requests*11/10 || retries < 50 {
			t.Errorf("minute %d: %d retries for %d requests", minute, retries, requests)
		}
	}
}
