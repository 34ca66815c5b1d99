package tenant

import (
	"errors"
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

// A charge is corrected by what it took, into however many parts the rate was cut meanwhile.
func TestAChargeIsSettledByWhatItTook(t *testing.T) {
	parts := new(atomic.Int32)
	parts.Store(1)
	for _, c := range []struct {
		before, after int32
		charged, cost int
		left          int // of a burst of 6000, in this gateway's parts
	}{
		{1, 1, 5500, 5520, 480}, {1, 3, 5500, 5520, 146}, {3, 1, 1500, 1520, 1480}, {1, 1, 9000, 9500, -3500},
		{1, 3, 100, 0, 2000},
	} {
		one := &Tenant{tokens: newQuota("acme", 100, 6000, Sharing{Parts: parts})}
		now := time.Now()
		parts.Store(c.before)
		taken, no := one.Charge(now, c.charged)
		if no != nil {
			t.Fatal(no)
		}
		parts.Store(c.after)
		one.Settle(now, taken, c.cost)
		got := int(one.tokens.own.TokensAt(now)) / int(c.after)
		if d := got - c.left; d < -20 || d > 20 {
			t.Errorf("%+v: %d are left", c, got)
		}
	}
}

// away is a count of all gateways that cannot be had.
type away struct{}

func (away) Take(string, float64, int, int) (time.Duration, error) { return 0, errAway }
func (away) Spend(string, float64, int, int) error                 { return errAway }

var errAway = errors.New("away")

// While the shared count is away a prompt that is larger than this gateway's part of the burst takes the part, and is
// settled by that: what the rest of it cost is owed.
func TestAChargeOfAPartIsSettledByThePart(t *testing.T) {
	for _, c := range []struct{ charged, cost, left int }{
		{5500, 5600, 2000 - 5600}, {1500, 1600, 400}, {5500, 0, 2000},
	} {
		one := &Tenant{tokens: newQuota("acme", 100, 6000, Sharing{Rates: away{}, Gateways: 3})}
		now := time.Unix(1, 0)
		taken, err := one.Charge(now, c.charged)
		if err != nil || taken != min(c.charged, 2000) {
			t.Fatalf("%d of %d are taken: %v", taken, c.charged, err)
		}
		one.Settle(now, taken, c.cost)
		if left := int(one.tokens.own.TokensAt(now)); left != c.left {
			t.Errorf("%d charged and %d used leave %d, want %d", c.charged, c.cost, left, c.left)
		}
	}
}
