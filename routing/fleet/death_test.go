package fleet

import (
	"testing"
	"time"
)

// struckAt sends a request at a time and fails it at another.
func struckAt(r *Replica, began, failed time.Time) bool {
	var f Flight
	r.Start(&f, Demand{Prompt: 1}, began)
	defer f.Land()
	struck, _ := f.Struck(failed)
	return struck
}

func answeredAt(r *Replica, began time.Time) {
	var f Flight
	r.Start(&f, Demand{Prompt: 1}, began)
	f.FirstToken(began.Add(time.Millisecond))
	f.Land()
}

// A death strikes what was in flight when the first request was lost, and counts after an answer and an interval only.
func TestADeathStrikesWhatWasInFlight(t *testing.T) {
	f := New(WithTerms(Terms{DeathInterval: 10 * time.Second}))
	r, err := f.Put(Spec{Name: "debug-0", Specialist: "debug", Host: 1})
	if err != nil {
		t.Fatal(err)
	}
	zero := time.Unix(1e9, 0)
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	if !struckAt(r, at(0), at(1)) || struckAt(r, at(2), at(3)) {
		t.Error("an engine that has answered nothing dies once")
	}
	answeredAt(r, at(10))
	r.deaths.last = time.Time{} // long ago
	for _, c := range []struct {
		name         string
		began, ended int
		want         bool
	}{
		{"the first to be lost", 100, 1000, true}, {"in flight with it", 999, 1005, true},
		{"sent afterwards", 1001, 1006, false},
		{"in flight with it, and lost late", 500, 5000, true}, {"sent long afterwards", 20000, 20001, false},
	} {
		if got := struckAt(r, at(c.began), at(c.ended)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	answeredAt(r, at(900)) // sent before the death: it says nothing of the engine now
	if struckAt(r, at(30000), at(30001)) {
		t.Error("a dead engine died again")
	}
	answeredAt(r, at(31000))
	if !struckAt(r, at(32000), at(32001)) {
		t.Error("an engine that came back does not die")
	}
	answeredAt(r, at(33000))
	if struckAt(r, at(34000), at(34001)) {
		t.Error("an engine dies again within the interval")
	}
	answeredAt(r, at(43000))
	if !struckAt(r, at(44000), at(44001)) {
		t.Error("an engine does not die again after the interval")
	}
}

// A replica that is busy says so for longer each time, until it answers.
func TestAReplicaIsBusyForLongerEachTime(t *testing.T) {
	f := New()
	r, err := f.Put(Spec{Name: "debug-0", Specialist: "debug", Host: 1})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 32} {
		r.OnBusy(now, 0)
		r.OnBusy(now, 0) // of a request that was under way: once is enough
		if end := now.Add(want * time.Second); !r.Busy(end.Add(-time.Millisecond)) || r.Busy(end) {
			t.Errorf("it is not busy for %d s", want)
		}
		now = now.Add(want * time.Second)
	}
	if r.OnSuccess(); r.Busy(now) {
		t.Error("it is busy after an answer")
	}
	if r.OnBusy(now, 5*time.Second); !r.Busy(now.Add(4 * time.Second)) {
		t.Error("it is not busy for as long as it says")
	}
}
