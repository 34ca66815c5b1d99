package peers

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestHalfOfWhatATenantHadIsForgottenInTenSeconds(t *testing.T) {
	s := NewShares()
	s.Add("a", 1000, noon)
	s.Add("a", 500, noon.Add(sharesHalf))
	s.Add("b", 300, noon.Add(-time.Hour)) // clocks that go back forget nothing
	for name, test := range map[string]struct {
		tenant string
		after  time.Duration
		want   float64
	}{
		"as it was": {"a", sharesHalf, 1000}, "half": {"a", 2 * sharesHalf, 500},
		"a quarter": {"a", 3 * sharesHalf, 250},
		"another":   {"c", 0, 0}, "long ago": {"b", 0, 0},
	} {
		if got := s.Had(test.tenant, noon.Add(test.after)); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestTenantsThatAreKeptAreBounded(t *testing.T) {
	s := NewShares()
	for i := range mostShares + 10 {
		s.Add(fmt.Sprint(i), 100, noon)
	}
	if len(s.had) != mostShares {
		t.Errorf("%d are kept", len(s.had))
	}
	later := noon.Add(10 * sharesHalf)
	if s.Add("new", 100, later); len(s.had) != 1 || s.Had("new", later) != 100 {
		t.Errorf("%d are kept, and a new one has had %v", len(s.had), s.Had("new", later))
	}
}

// Of what waits at several gateways for one replica the most urgent counts, and of equal ones that of the tenant that
// has had least.
func TestOfThoseThatWaitTheNextOneCounts(t *testing.T) {
	roll := NewRoll("reader", 9)
	for i, w := range []Work{
		{Waiting: 1, Urgent: 2, Tenant: 1, Had: 700}, {Waiting: 1, Urgent: 2, Tenant: 2, Had: 300},
		{Waiting: 1, Urgent: 1, Tenant: 3, Had: 0}, {Running: 1},
	} {
		work := map[uint64]Work{7: w}
		heard(t, roll, NewTeller(fmt.Sprint("g", i), 1, lease).Tell(work, nil, noon), noon)
	}
	if at := roll.Beside(7); at.Urgent != 2 || at.Tenant != 2 || at.Had != 300 || at.Waiting != 3 {
		t.Errorf("%+v", at)
	}
}
