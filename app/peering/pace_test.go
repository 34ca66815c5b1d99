package peering

import (
	"log/slog"
	"testing"
	"time"

	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/scheduler/gate"
)

// ledger is a gateway's own of a replica of that name. All replicas are of one engine.
func ledger(t *testing.T, name, specialist string) *fleet.Replica {
	t.Helper()
	member, err := fleet.New().Put(fleet.Spec{Name: name, Specialist: specialist, URL: "http://one"})
	if err != nil {
		t.Fatal(err)
	}
	return member
}

// oneReplica is a gateway before one replica.
func oneReplica(t *testing.T) (*Group, *Replica) {
	t.Helper()
	member := ledger(t, "one", "debug")
	admits, err := gate.New(gate.Config{Blocks: 64, BlockSize: 16, MaxRunning: 8, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	g := New(Config{Name: "own", Lease: time.Second, Link: new(sink), Log: slog.New(slog.DiscardHandler)})
	g.Serve([]Replica{{Key: peers.Key("http://one", "", ""), Fleet: member, Gate: admits}})
	return g, &g.replicas.Load().list[0]
}

// Messages that come closely after each other are told together, by the next look at the latest. None is forgotten.
func TestWhatComesCloselyIsToldWithTheNextLook(t *testing.T) {
	g, r := oneReplica(t)
	now := time.Now()
	running := func() int { return r.Fleet.Others().Running }
	told := func(from string, n int, after time.Duration) {
		work := map[uint64]peers.Work{r.Key: {Running: n, Blocks: n}}
		g.hear(peers.NewTeller(from, 1, time.Second).Tell(work, nil, now), now.Add(after))
	}
	told("a", 1, 0)
	if n := running(); n != 1 {
		t.Errorf("%d, after the first message", n)
	}
	told("b", 2, time.Millisecond)
	told("c", 4, 2*time.Millisecond)
	if n := running(); n != 1 {
		t.Errorf("%d, before the replicas are told again", n)
	}
	told("d", 8, tellEvery)
	if n := running(); n != 15 {
		t.Errorf("%d, and four tell of 15", n)
	}
	told("e", 16, tellEvery+1)
	g.look(now.Add(Every))
	if n := running(); n != 31 || r.Gate.Calibration().Withheld != 31 {
		t.Errorf("%d, %d blocks, and five tell of 31", n, r.Gate.Calibration().Withheld)
	}
	if g.look(now.Add(2 * time.Second)); running() != 0 || r.Gate.Calibration().Withheld != 0 {
		t.Error("they count after their leases")
	}
}

// What tenants had at another gateway counts here, over their weights, once however often it comes; what is started
// here is told where there is another gateway, once.
func TestWhatTenantsHadCountsAtAllGateways(t *testing.T) {
	g, r := oneReplica(t)
	g.shares.weight = func(tenant string) int { return map[string]int{"big": 4}[tenant] }
	shares := g.Shares(r.Key)
	shares.Started("big", 1, 1000)
	now := time.Now()
	g.look(now) // to none
	other := peers.NewTeller("other", 1, time.Second)
	m := other.Tell(nil, &peerspb.Message{Started: []*peerspb.Started{
		{Replica: r.Key, Tenant: "big", Priority: 1, Cost: 3000},
		{Replica: r.Key, Tenant: "small", Priority: 1, Cost: 500},
		{Replica: r.Key + 1, Tenant: "small", Priority: 1, Cost: 9000}}}, now) // of none that is served here
	g.hear(m, time.Now())
	g.hear(m, time.Now())
	near := func(got, want int) bool { return got <= want && got >= want*9/10 }
	if big, small := shares.Had("big", 1), shares.Had("small", 1); !near(big, 1000) || !near(small, 500) {
		t.Errorf("they have had %d and %d", big, small)
	}
	if n := g.Shares(r.Key+1).Had("small", 1); n != 0 {
		t.Errorf("of a replica that is not served it has had %d", n)
	}
}
