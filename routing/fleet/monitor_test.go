package fleet_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/routing/fleet"
	"octet/routing/index"
)

// prober answers as told, and notes when it was asked.
type prober struct {
	mu    sync.Mutex
	sick  map[string]bool
	hangs map[string]bool
	asked map[string][]time.Duration
	began time.Time
}

func newProber() *prober {
	return &prober{sick: map[string]bool{}, hangs: map[string]bool{}, asked: map[string][]time.Duration{},
		began: time.Now()}
}

func (p *prober) Probe(ctx context.Context, r *fleet.Replica) error {
	name := r.Spec().Name
	p.mu.Lock()
	p.asked[name] = append(p.asked[name], time.Since(p.began))
	sick, hangs := p.sick[name], p.hangs[name]
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if sick {
		return errors.New("503")
	}
	return nil
}

func (p *prober) set(m map[string]bool, name string, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m[name] = on
}

func (p *prober) times(name string) []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]time.Duration(nil), p.asked[name]...)
}

// watched runs a Monitor over f in the bubble and ends it with the test.
func watched(t *testing.T, f *fleet.Fleet, m fleet.Monitor) *prober {
	p := newProber()
	m.Fleet, m.Prober = f, p
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { m.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
	return p
}

// MOD3-05
func TestProbesMarkDownAndBringBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 2)
		p := watched(t, f, fleet.Monitor{Interval: time.Second, Unhealthy: 3, HealthyAfter: 2})
		p.set(p.sick, "debug-0", true) // the probe at 0 s passed
		for after, healthy := range []bool{true, true, true, false, false} {
			if rs[0].Healthy() != healthy || !rs[1].Healthy() {
				t.Errorf("after %d s: %t, the other %t", after, rs[0].Healthy(), rs[1].Healthy())
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if f.Snapshot("debug").Available() != index.HostSet(1) {
			t.Error("a replica that is down is available")
		}
		p.set(p.sick, "debug-0", false)
		for after, healthy := range []bool{false, false, true} {
			if rs[0].Healthy() != healthy {
				t.Errorf("%d s after it recovered: %t", after, rs[0].Healthy())
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
	})
}

func TestOneFailureBetweenSuccessesMarksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 1)
		p := watched(t, f, fleet.Monitor{Interval: time.Second, Unhealthy: 2, HealthyAfter: 2})
		for i := range 10 {
			p.set(p.sick, "debug-0", i%2 == 0)
			time.Sleep(time.Second)
			synctest.Wait()
			if !rs[0].Healthy() {
				t.Fatalf("down after probe %d", i)
			}
		}
	})
}

func TestOnlySuccessesInARowBringBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 1)
		p := watched(t, f, fleet.Monitor{Interval: time.Second, Unhealthy: 1, HealthyAfter: 2})
		for i, sick := range []bool{true, false, true, false, true, false, false} {
			p.set(p.sick, "debug-0", sick)
			time.Sleep(time.Second)
			synctest.Wait()
			if rs[0].Healthy() != (i == 6) {
				t.Errorf("after probe %d: %t", i, rs[0].Healthy())
			}
		}
	})
}

func TestANewReplicaInheritsNoHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 1)
		p := watched(t, f, fleet.Monitor{Interval: time.Second, Unhealthy: 1})
		p.set(p.sick, "debug-0", true)
		time.Sleep(1500 * time.Millisecond)
		f.Remove("debug-0")
		if r := put(t, f, spec("build", 0)); rs[0].Healthy() || !r.Healthy() {
			t.Error("the host's next replica starts down, or the one that left is as healthy")
		}
		if rs[0].OnConnectFailure(); f.Snapshot("build").Available().Empty() {
			t.Error("the one that left marks the next one down")
		}
	})
}

func TestAProbeThatHangsFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 1)
		p := watched(t, f, fleet.Monitor{Interval: time.Second, Timeout: 500 * time.Millisecond, Unhealthy: 1})
		p.set(p.hangs, "debug-0", true)
		time.Sleep(1400 * time.Millisecond)
		if !rs[0].Healthy() {
			t.Error("down before the timeout")
		}
		time.Sleep(200 * time.Millisecond)
		if rs[0].Healthy() {
			t.Error("still healthy after the timeout")
		}
	})
}

func TestProbesAreSpreadByJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := filled(t, 1)
		jitter := []float64{0, 0.5, 0.999}
		next := 0
		p := watched(t, f, fleet.Monitor{Interval: 10 * time.Second,
			Jitter: func() float64 { next++; return jitter[(next-1)%3] }})
		time.Sleep(31 * time.Second)
		want := []time.Duration{0, 9 * time.Second, 19 * time.Second, 29998 * time.Millisecond}
		if diff := cmp.Diff(want, p.times("debug-0")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAFailedConnectionCountsAndAsksForAProbeSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 1)
		p := watched(t, f, fleet.Monitor{Interval: 10 * time.Second, Unhealthy: 3, HealthyAfter: 1})
		p.set(p.sick, "debug-0", true)
		time.Sleep(5 * time.Second)
		rs[0].OnConnectFailure()
		rs[0].OnConnectFailure()
		if !rs[0].Healthy() {
			t.Error("down after two failures")
		}
		for range 20 { // a storm of them does not push the probe away
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if rs[0].OnConnectFailure(); time.Since(p.began) < 5900*time.Millisecond && len(p.times("debug-0")) != 1 {
				t.Error("probed too soon")
			}
		}
		if got := p.times("debug-0"); len(got) < 2 || got[1] != 6*time.Second || rs[0].Healthy() {
			t.Errorf("probed at %v, healthy %t", got, rs[0].Healthy())
		}
		if rs[0].OnSuccess(); !rs[0].Healthy() {
			t.Error("an answer does not bring it back")
		}
	})
}

// A doubt is settled within a few tenths of the interval, whichever way; it counts as no failure itself.
func TestADoubtIsSettledSoon(t *testing.T) {
	for name, c := range map[string]struct {
		sick   []bool // at each probe after the doubt
		probes []time.Duration
	}{
		"none is needed": {[]bool{false, false, false}, []time.Duration{6, 16, 26}},
		"it has died":    {[]bool{true, true, true, true}, []time.Duration{6, 7, 8, 18}}, // down from 8 s on
		"it was busy":    {[]bool{true, true, false, true}, []time.Duration{6, 7, 8, 18}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, rs := filled(t, 1)
				p := watched(t, f, fleet.Monitor{Interval: 10 * time.Second, Unhealthy: 3, HealthyAfter: 1})
				time.Sleep(5 * time.Second)
				rs[0].ProbeSoon()
				rs[0].ProbeSoon()
				bad := 0
				for i, sick := range c.sick {
					p.set(p.sick, "debug-0", sick)
					for len(p.times("debug-0")) < i+2 {
						time.Sleep(100 * time.Millisecond)
						synctest.Wait()
					}
					if got := p.times("debug-0")[i+1]; got != c.probes[i]*time.Second {
						t.Errorf("probe %d at %v", i, got)
					}
					if bad++; !sick {
						bad = 0
					}
					if rs[0].Healthy() != (bad < 3) {
						t.Errorf("healthy %t after %d failures in a row", rs[0].Healthy(), bad)
					}
				}
			})
		})
	}
}

func TestWithoutAMonitorAFailedConnectionMarksNothing(t *testing.T) {
	_, rs := filled(t, 1)
	for range 100 {
		rs[0].OnConnectFailure()
	}
	if next := rs[0].NextProbe(time.Now()); next != 0 {
		t.Errorf("probed in %v", next)
	}
	if rs[0].OnSuccess(); !rs[0].Healthy() {
		t.Error("it is down, and nothing can bring it back")
	}
}

func TestTheMonitorFollowsTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := filled(t, 1)
		p := watched(t, f, fleet.Monitor{Interval: time.Second, Unhealthy: 1})
		time.Sleep(1500 * time.Millisecond)
		put(t, f, spec("debug", 1))
		f.Remove("debug-0")
		time.Sleep(2200 * time.Millisecond)
		want := map[string][]time.Duration{
			"debug-0": {0, time.Second},
			"debug-1": {1500 * time.Millisecond, 2500 * time.Millisecond, 3500 * time.Millisecond},
		}
		got := map[string][]time.Duration{"debug-0": p.times("debug-0"), "debug-1": p.times("debug-1")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAProbeCutShortByTheEndSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 1)
		p := newProber()
		p.hangs["debug-0"] = true
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { fleet.Monitor{Fleet: f, Prober: p, Unhealthy: 1}.Run(ctx); close(done) }()
		time.Sleep(time.Second)
		cancel()
		<-done
		if !rs[0].Healthy() {
			t.Error("the end of the Monitor marks a replica down")
		}
	})
}
