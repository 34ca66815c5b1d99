package peers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"octet/routing/peers/peerspb"
)

func TestHalfOfWhatATenantHadIsForgottenInTenSeconds(t *testing.T) {
	s, a := NewShares(), Share{"a", 2}
	s.Start(7, a, 1100, noon)
	s.Start(7, a, -100, noon)
	s.Hear(&peerspb.Started{Replica: 7, Tenant: "a", Priority: 2, Cost: 500}, noon.Add(sharesHalf))
	s.Start(7, Share{"b", 0}, 300, noon.Add(-time.Hour)) // clocks that go back forget nothing
	for name, test := range map[string]struct {
		replica uint64
		share   Share
		after   time.Duration
		want    float64
	}{
		"as it was": {7, a, sharesHalf, 1000}, "half": {7, a, 2 * sharesHalf, 500},
		"a quarter":      {7, a, 3 * sharesHalf, 250},
		"another tenant": {7, Share{"c", 2}, 0, 0}, "long ago": {7, Share{"b", 0}, 0, 0},
		"another priority": {7, Share{"a", 3}, sharesHalf, 0}, "another replica": {8, a, sharesHalf, 0},
	} {
		if got := s.Had(test.replica, test.share, noon.Add(test.after)); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if s.Keep(func(replica uint64) bool { return replica != 7 }); s.Had(7, a, noon) != 0 {
		t.Error("of a replica that is not served it is known")
	}
}

// What is started here is told once, by replica, tenant and priority, where there is another gateway.
func TestWhatIsStartedIsToldOnce(t *testing.T) {
	s := NewShares()
	s.Start(7, Share{"a", 0}, 50, noon)
	if m := s.Write(nil, 0); m != nil {
		t.Errorf("to none it tells %v", m)
	}
	for range 3 {
		s.Start(8, Share{"a", 0}, 50, noon)
	}
	s.Start(7, Share{"b", -3}, 20, noon)
	s.Start(7, Share{"b", 1}, 20, noon)
	s.Start(7, Share{"b", 1}, -30, noon)
	want := []*peerspb.Started{{Replica: 7, Tenant: "b", Priority: -3, Cost: 20},
		{Replica: 7, Tenant: "b", Priority: 1, Cost: -10}, {Replica: 8, Tenant: "a", Cost: 150}}
	if got := s.Write(nil, 2); !proto.Equal(got, &peerspb.Message{Started: want}) {
		t.Errorf("it tells %v", got)
	}
	if m := s.Write(nil, 2); m != nil {
		t.Errorf("again it tells %v", m)
	}
	for i := range mostTold + 5 {
		s.Start(7, Share{fmt.Sprint(i), 0}, 1, noon)
	}
	if got := s.Write(nil, 2); len(got.GetStarted()) != mostTold || s.Dropped() != 5 {
		t.Errorf("of too many it tells %d, and drops %d", len(got.GetStarted()), s.Dropped())
	}
}

// What a gateway says that it has started is bounded.
func TestWhatIsHeardIsBounded(t *testing.T) {
	s := NewShares()
	for _, cost := range []int64{math.MaxInt64, math.MinInt64, mostCost + 1, 5} {
		_, _, got := s.Hear(&peerspb.Started{Replica: 7, Tenant: "a", Cost: cost}, noon)
		if got > mostCost || got < -mostCost || cost == 5 && got != 5 {
			t.Errorf("%d counts as %d", cost, got)
		}
	}
}

func TestTenantsThatAreKeptAreBounded(t *testing.T) {
	s := NewShares()
	for i := range mostShares + 10 {
		s.Start(7, Share{fmt.Sprint(i), 0}, 100, noon)
	}
	if len(s.had[7]) != mostShares {
		t.Errorf("%d are kept", len(s.had[7]))
	}
	later, fresh := noon.Add(10*sharesHalf), Share{"new", 0}
	if s.Start(7, fresh, 100, later); len(s.had[7]) != 1 || s.Had(7, fresh, later) != 100 {
		t.Errorf("%d are kept, and a new one has had %v", len(s.had[7]), s.Had(7, fresh, later))
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
