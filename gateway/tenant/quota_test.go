package tenant

import (
	"sync/atomic"
	"testing"
	"time"
)

// What a gateway admits while it cannot hear of the others' use is its part of the rate, and of the burst.
func TestARateIsCutIntoParts(t *testing.T) {
	for _, test := range []struct{ parts, burst, most int }{
		{0, 12, 12}, {1, 12, 12}, {3, 12, 4}, {5, 12, 2}, {100, 12, 1},
	} {
		now := time.Unix(1, 0)
		parts := new(atomic.Int32)
		parts.Store(int32(test.parts))
		q := newQuota("a", 6, test.burst, Sharing{Parts: parts})
		taken := func() (n int) {
			for ; ; n++ {
				if _, ok := q.take(now, 1); !ok {
					return n
				}
			}
		}
		if got := taken(); got != test.most {
			t.Errorf("%d parts: %d at once, not %d", test.parts, got, test.most)
		}
		got := 0
		for range 6000 { // a minute
			now = now.Add(10 * time.Millisecond)
			got += taken()
		}
		weight := min(max(1, test.parts), test.burst) // at least one fits in a burst
		if want := 360 / weight; got < want-1 || got > want+1 {
			t.Errorf("%d parts: %d a minute, not %d", test.parts, got, want)
		}
		if n := q.takes(1000); n != test.most {
			t.Errorf("%d parts: %d of 1,000 are taken at once, not %d", test.parts, n, test.most)
		}
		parts.Store(1)
		now = now.Add(time.Hour)
		if got := taken(); got != test.burst {
			t.Errorf("%d parts, whole again: %d at once, not %d", test.parts, got, test.burst)
		}
	}
}
