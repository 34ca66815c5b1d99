package fleet_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"octet/routing/fleet"
	"octet/routing/index"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func spec(specialist string, h index.HostID) fleet.Spec {
	return fleet.Spec{Name: fmt.Sprintf("%s-%d", specialist, h), Specialist: specialist, Host: h, BlockSize: 16}
}

// filled returns a Fleet with n replicas of "debug", hosts 0 … n-1.
func filled(t *testing.T, n int, options ...fleet.Option) (*fleet.Fleet, []*fleet.Replica) {
	t.Helper()
	f := fleet.New(options...)
	for h := range n {
		put(t, f, spec("debug", index.HostID(h)))
	}
	return f, f.All()
}

func put(t *testing.T, f *fleet.Fleet, s fleet.Spec) *fleet.Replica {
	t.Helper()
	r, err := f.Put(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// GAIE-05, GAIE-06: endpoints of one pod are replicas of their own.
func TestASnapshotHoldsOneSpecialistsReplicas(t *testing.T) {
	f := fleet.New()
	s := spec("debug", 3)
	s.URL, s.Role, s.HasEvents = "http://127.0.0.1:9001", fleet.RolePrefill, true
	put(t, f, s)
	s = spec("debug", 1)
	s.URL, s.Role = "http://127.0.0.1:9002", fleet.RoleDecode
	put(t, f, s)
	put(t, f, spec("debug", 200))
	put(t, f, spec("build", 0))
	debug := f.Snapshot("debug")
	if debug.Hosts != index.HostSet(1, 3, 200) || debug.Len() != 3 || debug.BlockSize() != 16 ||
		debug.Prefill() != index.HostSet(3, 200) || debug.Decode() != index.HostSet(1, 200) ||
		debug.Events() != index.HostSet(3) {
		t.Errorf("debug has %+v", debug.Hosts)
	}
	if debug.Replica(3).Spec().URL != "http://127.0.0.1:9001" || debug.Replica(200).Spec().Role != fleet.RoleBoth ||
		debug.Replica(0) != nil {
		t.Error("a replica is not at its host")
	}
	if nobody := f.Snapshot("nobody"); nobody.Len() != 0 || !nobody.Available().Empty() || nobody.BlockSize() != 0 {
		t.Error("an unknown specialist has replicas")
	}
	if all := f.All(); len(all) != 4 || all[0].Spec().Name != "build-0" || all[3].Spec().Name != "debug-200" {
		t.Errorf("all are %v", all)
	}
}

func TestASnapshotKeepsItsMembersAndFollowsTheirState(t *testing.T) {
	f, rs := filled(t, 3)
	before := f.Snapshot("debug")
	rs[1].SetDraining(true)
	if before.Available() != index.HostSet(0, 2) || !rs[1].Draining() {
		t.Error("draining does not show in a snapshot taken before")
	}
	if !f.Remove("debug-0") || f.Remove("debug-0") {
		t.Error("Remove does not say whether it removed")
	}
	if before.Len() != 3 || before.Replica(0) != rs[0] || f.Snapshot("debug").Hosts != index.HostSet(1, 2) {
		t.Error("removing shows in the wrong snapshot")
	}
	if rs[1].SetDraining(false); f.Snapshot("debug").Available() != index.HostSet(1, 2) {
		t.Error("draining does not end")
	}
}

func TestPutKeepsAnUnchangedReplica(t *testing.T) {
	f, rs := filled(t, 2)
	rs[0].Begin()
	if again := put(t, f, spec("debug", 0)); again != rs[0] || again.InFlight() != 1 {
		t.Error("an unchanged spec makes a new replica")
	}
	rs[0].SetDraining(true)
	changed := spec("debug", 0)
	changed.Blocks = 99
	r := put(t, f, changed)
	if r == rs[0] || r.InFlight() != 0 || !r.Draining() {
		t.Errorf("a changed spec: same %t, %d in flight, draining %t", r == rs[0], r.InFlight(), r.Draining())
	}
	rs[0].SetDraining(false) // a handle from before the change
	if !r.Draining() {
		t.Error("the old replica changes the new one's state")
	}
	moved := spec("debug", 5)
	moved.Name = "debug-0"
	if put(t, f, moved); f.Snapshot("debug").Hosts != index.HostSet(1, 5) {
		t.Errorf("after the move: %v", f.Snapshot("debug").Hosts)
	}
	if found, ok := f.Find("debug-0"); !ok || found.Spec().Host != 5 {
		t.Error("Find knows it at its old place")
	}
}

func TestPutRefusesWhatCannotBe(t *testing.T) {
	f, _ := filled(t, 2)
	taken, beyond, odd := spec("build", 1), spec("build", index.MaxHosts), spec("build", 2)
	odd.Role = "router"
	for want, s := range map[error]fleet.Spec{fleet.ErrHost: taken, fleet.ErrRole: odd} {
		if _, err := f.Put(s); !errors.Is(err, want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := f.Put(beyond); !errors.Is(err, fleet.ErrHost) {
		t.Errorf("host %d: %v", beyond.Host, err)
	}
	if f.Snapshot("build").Len() != 0 || f.Snapshot("debug").Len() != 2 {
		t.Error("a refused Put left something behind")
	}
}

func TestANewReplicaInheritsNoState(t *testing.T) {
	f, rs := filled(t, 2)
	rs[0].SetDraining(true)
	late, err := rs[0].Take()
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		fail(t, rs[0])
	}
	f.Remove("debug-0")
	late.Settle(fleet.Failed) // the fifth in a row, but the host is another's by now
	if r := put(t, f, spec("build", 0)); r.Draining() || !r.Healthy() || r.State() != "closed" ||
		!f.Snapshot("build").Tripped().Empty() {
		t.Error("the host's next replica starts with the state of the one before")
	}
	if rs[0].State() != "closed" {
		t.Error("a replica that left holds an ejection place")
	}
}

func TestLoadIsTheSourcesWithOurOwnRequests(t *testing.T) {
	_, rs := filled(t, 1)
	r := rs[0]
	r.Begin()
	r.Begin()
	r.End()
	if r.Load() != (fleet.Load{InFlight: 1}) {
		t.Errorf("without a source: %+v", r.Load())
	}
	r.LoadFrom(func() fleet.Load {
		return fleet.Load{InFlight: 99, Waiting: 2, Running: 3, Preempting: 4, KVUsage: 0.5}
	})
	if r.Load() != (fleet.Load{InFlight: 1, Waiting: 2, Running: 3, Preempting: 4, KVUsage: 0.5}) {
		t.Errorf("with a source: %+v", r.Load())
	}
	r.End()
	defer func() {
		if recover() == nil {
			t.Error("an End too many passes")
		}
	}()
	r.End()
}

func TestReadersAndChangesRunSideBySide(t *testing.T) {
	f, _ := filled(t, 8)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 500 {
				s := f.Snapshot("debug")
				for h := range s.Available().All() {
					r := s.Replica(h)
					r.Begin()
					if p, err := r.Take(); err == nil {
						p.Settle(fleet.Outcome(h % 3))
					}
					r.OnSuccess()
					r.End()
				}
			}
		})
	}
	for i := range 200 {
		h := index.HostID(i % 8)
		f.Remove(spec("debug", h).Name)
		r := put(t, f, spec("debug", h))
		r.SetDraining(i%3 == 0)
	}
	running.Wait()
	if f.Snapshot("debug").Len() != 8 {
		t.Error("a replica was lost")
	}
}

func BenchmarkSnapshot(b *testing.B) {
	f := fleet.New()
	for h := range index.HostID(64) {
		if _, err := f.Put(spec("debug", h)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if f.Snapshot("debug").Available().Empty() {
			b.Fatal("none")
		}
	}
}

// A snapshot outlives its replicas: one that left stays as it was when it left, whatever befalls the next one in its
// slot.
func TestASnapshotKnowsItsReplicasWhoeverHasTheirSlots(t *testing.T) {
	f, rs := filled(t, 3)
	s := f.Snapshot("debug")
	rs[1].SetDraining(true)
	if gone := s.Departed(); !gone.Empty() {
		t.Fatalf("%v are gone", gone)
	}
	f.Remove("debug-0")
	f.Remove("debug-1")
	if s.Departed() != index.HostSet(0, 1) || s.Available() != index.HostSet(0, 2) {
		t.Errorf("%v are gone, %v available", s.Departed(), s.Available())
	}
	next := [2]*fleet.Replica{put(t, f, spec("build", 0)), put(t, f, spec("build", 1))}
	next[0].SetDraining(true)
	if s.Available() != index.HostSet(0, 2) || rs[0].Draining() || !rs[1].Draining() || next[1].Draining() {
		t.Errorf("%v are available after others took the slots", s.Available())
	}
	all := index.HostSet(0, 1, 2)
	if s.KeepAvailable(&all); all != index.HostSet(0, 2) {
		t.Errorf("%v are kept", all)
	}
	if now := f.Snapshot("build"); !now.Departed().Empty() || now.Available() != index.HostSet(1) {
		t.Errorf("of the next ones %v are gone, %v available", now.Departed(), now.Available())
	}
	var none *fleet.Snapshot
	if gone := none.Departed(); !gone.Empty() {
		t.Errorf("%v are gone from none", gone)
	}
}
