package fleet_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
	"octet/routing/index"
)

// A replica whose engine announces its end is out of every selection from that moment, though its probes are good; it
// returns when probes say so, not when it answers what it has. MOD2-45
func TestAReplicaThatAnnouncesItsEndIsOutAtOnce(t *testing.T) {
	for name, row := range map[string]struct {
		sick []bool // the probe of each second after the announcement
		back int    // the second after whose probe it is back
	}{
		"its probes stay good: it is believed after the hold": {make([]bool, 12), 10},
		"a probe fails and the next two are good":             {[]bool{true, false, false, false}, 3},
		"good probes before the failure are not a return":     {[]bool{false, false, true, false, false, false}, 5},
		"another failure begins anew":                         {[]bool{true, false, true, false, false, false}, 5},
		"it goes down, and is back when its health is as well": {[]bool{true, true, true, true, false, false, false},
			6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said []string
				f, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{ShutdownHold: 10 * time.Second}),
					fleet.WithWithdrawal(func(r *fleet.Replica, withdrawn bool, why string) {
						said = append(said, fmt.Sprint(r.Spec().Name, " ", withdrawn, " ", why))
					}))
				p := watched(t, f, fleet.Monitor{Interval: time.Second, Unhealthy: 3, HealthyAfter: 2})
				rs[0].ShutDown(time.Time{}, time.Now())
				if got := f.Snapshot("debug").Available(); got != index.HostSet(1) || !rs[0].Healthy() {
					t.Fatalf("available: %v", got)
				}
				for second, sick := range row.sick {
					rs[0].OnSuccess()
					p.set(p.sick, "debug-0", sick)
					time.Sleep(time.Second)
					synctest.Wait()
					if back := f.Snapshot("debug").Available().Has(0); back != (second+1 >= row.back) {
						t.Errorf("after %d s it is available: %t", second+1, back)
					}
				}
				if want := []string{"debug-0 true shutdown event", "debug-0 false probes"}; !slices.Equal(said, want) {
					t.Errorf("said %q", said)
				}
			})
		})
	}
}

// What an engine announced long ago is history that a transport brings again; what a later start or an operator says
// ends an announcement; lost events hold beside it. MOD2-45
func TestAnAnnouncedEndIsOverByWhatComesAfter(t *testing.T) {
	f, rs := filled(t, 2)
	now := time.Now()
	rs[0].ShutDown(now.Add(-30*time.Second), now)
	if rs[0].Withdrawn() {
		t.Error("an old announcement counts")
	}
	rs[0].ShutDown(now.Add(time.Hour), now) // its clock is ahead
	rs[0].SetSilent(true)
	if rs[0].Return(fleet.WhyEvents); !rs[0].Withdrawn() {
		t.Error("its events have stopped, and it is not withdrawn")
	}
	if rs[0].SetSilent(false); rs[0].Withdrawn() || f.Snapshot("debug").Available().Count() != 2 {
		t.Error("it is still withdrawn")
	}
}

// A replica keeps an announced end when its labels change, not when it is another engine; and what has left keeps its
// last state. MOD2-45
func TestAnAnnouncedEndIsOfTheEngine(t *testing.T) {
	f, rs := filled(t, 1)
	rs[0].ShutDown(time.Time{}, time.Now())
	s := spec("debug", 0)
	s.Labels = map[string]string{"zone": "b"}
	again := put(t, f, s)
	if again == rs[0] || !again.Withdrawn() {
		t.Error("a label made it return")
	}
	s.URL = "http://127.0.0.1:4711"
	if put(t, f, s).Withdrawn() {
		t.Error("another engine is withdrawn")
	}
	if !again.Withdrawn() || again.Available() {
		t.Error("one that left withdrawn has changed")
	}
	again.Return(fleet.WhyOperator)
	again.SetSilent(true)
	if f.Snapshot("debug").Available().Count() != 1 {
		t.Error("one that has left changes the bits of the next")
	}
}

// What an engine says of itself takes its replica out of every selection at once, beside what was announced or lost,
// and the reason is known.
func TestWhatAnEngineSaysOfItselfWithdrawsIt(t *testing.T) {
	f, rs := filled(t, 2)
	check := func(what string, why fleet.Standing) {
		t.Helper()
		if got := rs[0].Why(); got != why || f.Snapshot("debug").Available().Has(0) != (why == fleet.Serving) {
			t.Errorf("%s: %q, want %q", what, got, why)
		}
	}
	check("new", fleet.Serving)
	for _, s := range []fleet.Standing{fleet.Asleep, fleet.Loading, fleet.NoModel} {
		rs[0].Says(s)
		check("said", s)
		if rs[0].Said() != s || rs[0].Says(s) != s {
			t.Errorf("%q is not what it said", s)
		}
		rs[0].ShutDown(time.Time{}, time.Now())
		check("announced", "shutdown")
		rs[0].Return(fleet.WhyOperator)
		check("returned", s)
		rs[0].SetSilent(true)
		rs[0].Says(fleet.Serving)
		check("its events are lost", "silent")
		rs[0].SetSilent(false)
		check("all is well", fleet.Serving)
	}
	rs[0].SetDraining(true)
	check("drained", "draining")
	rs[0].SetDraining(false)
	rs[0].Says(fleet.Asleep)
	again := put(t, f, func() fleet.Spec { s := *rs[0].Spec(); s.MaxRunning++; return s }())
	if again == rs[0] || again.Why() != fleet.Asleep {
		t.Errorf("at the same URL it is %q", again.Why())
	}
}
