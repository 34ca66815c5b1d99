package fleet_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
	"octet/routing/index"
)

// settle takes a permit, which must be had, and settles it.
func settle(t *testing.T, r *fleet.Replica, o fleet.Outcome) {
	t.Helper()
	p, err := r.Take()
	if err != nil {
		t.Fatal(err)
	}
	p.Settle(o)
}

func fail(t *testing.T, r *fleet.Replica) { t.Helper(); settle(t, r, fleet.Failed) }

// script plays one letter after the other and returns the state after each: f a failure, s a success, x a cancelled
// request, r a request that has to be refused; digits let that many seconds pass, and a dot 50 ms.
func script(t *testing.T, b fleet.Breaker, letters string) string {
	t.Helper()
	_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: b}))
	r := rs[0]
	var states []string
	for _, l := range letters {
		switch l {
		case 's':
			settle(t, r, fleet.Succeeded)
		case 'f':
			settle(t, r, fleet.Failed)
		case 'x':
			settle(t, r, fleet.Cancelled)
		case 'r':
			if _, err := r.Take(); !errors.Is(err, fleet.ErrBreakerOpen) {
				t.Errorf("a request passes a breaker that is %s: %v", r.State(), err)
			}
		case '.':
			time.Sleep(50 * time.Millisecond)
		default:
			time.Sleep(time.Duration(l-'0') * time.Second)
		}
		states = append(states, map[string]string{"closed": "C", "half-open": "H", "open": "O"}[r.State()])
		if r.Admits() != (r.State() != "open") {
			t.Errorf("after %q: state %s, admits %t", letters[:len(states)], r.State(), r.Admits())
		}
	}
	return strings.Join(states, "")
}

// Cases of smg's circuit breaker and of gobreaker. Deviation: gobreaker's own test moves its clock by hand and finds
// the breaker half-open at exactly 60 s; by a real clock it is half-open once the time has passed, so these wait a
// moment more.
func TestBreakerGoesThroughItsStates(t *testing.T) {
	for name, test := range map[string]struct {
		breaker fleet.Breaker
		letters string
		want    string
	}{
		"opens on the nth consecutive failure": {fleet.Breaker{Failures: 3}, "fffr", "CCOO"},
		"half-open after the timeout": {fleet.Breaker{Failures: 1, OpenFor: 100 * time.Millisecond}, "f.r..s",
			"OOOOHC"},
		"closes after m successes": {fleet.Breaker{Failures: 1, Probes: 2, OpenFor: 40 * time.Millisecond},
			"f.ss", "OHHC"},
		"a success resets the count": {fleet.Breaker{Failures: 3}, "ffsff", "CCCCC"},
		"a failed probe opens again": {fleet.Breaker{Failures: 1, Probes: 2, OpenFor: 40 * time.Millisecond},
			"f.sfr.ss", "OHHOOHHC"},
		"five and one and six failures": {fleet.Breaker{Failures: 6, OpenFor: 5900 * time.Millisecond},
			"fffffsffffffr5r1", "CCCCCCCCCCCOOOOH"},
		"ratio, window, many requests": {fleet.Breaker{Failures: 99, Ratio: 0.6, MinRequests: 3,
			Window: 3 * time.Second}, "sfsfsfsfsf4fsf", "CCCCCCCCCCCCCO"},
		"a cancelled request counts nothing": {fleet.Breaker{Failures: 2}, "fxxxf", "CCCCO"},
		"a cancelled probe gives its place": {fleet.Breaker{Failures: 1, OpenFor: 40 * time.Millisecond}, "f.xxs",
			"OHHHC"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := script(t, test.breaker, test.letters); got != test.want {
					t.Errorf("%s goes %s, want %s", test.letters, got, test.want)
				}
			})
		})
	}
}

func TestHalfOpenLetsExactlyItsProbesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const probes = 3
		_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1, Probes: probes,
			OpenFor: time.Second}}))
		r := rs[0]
		fail(t, r)
		time.Sleep(2 * time.Second)
		var through atomic.Int64
		var permits sync.Map
		var running sync.WaitGroup
		for i := range 10_000 {
			running.Go(func() {
				if p, err := r.Take(); err == nil {
					through.Add(1)
					permits.Store(i, &p)
				}
			})
		}
		running.Wait()
		if through.Load() != probes || r.Admits() {
			t.Fatalf("%d of 10000 went through, admits %t", through.Load(), r.Admits())
		}
		first := true
		permits.Range(func(_, p any) bool {
			if first {
				p.(*fleet.Permit).Settle(fleet.Cancelled)
				p.(*fleet.Permit).Settle(fleet.Failed) // too late to count
				first = false
			} else {
				p.(*fleet.Permit).Settle(fleet.Succeeded)
			}
			return true
		})
		if r.State() != "half-open" || !r.Admits() {
			t.Errorf("state %s, admits %t", r.State(), r.Admits())
		}
		if settle(t, r, fleet.Succeeded); r.State() != "closed" {
			t.Errorf("after the last probe: %s", r.State())
		}
	})
}

func TestAllowIsTakeWithoutCancelling(t *testing.T) {
	_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1}}))
	for _, ok := range []bool{true, false} {
		done, err := rs[0].Allow()
		if err != nil {
			t.Fatal(err)
		}
		done(ok)
		done(!ok)
	}
	if _, err := rs[0].Allow(); !errors.Is(err, fleet.ErrBreakerOpen) || rs[0].State() != "open" {
		t.Errorf("%s, %v", rs[0].State(), err)
	}
}

func TestAtMostAShareOfASpecialistIsEjected(t *testing.T) {
	for _, test := range []struct {
		replicas int
		share    float64
		want     int
	}{{1, 0, 1}, {2, 0, 1}, {3, 0, 1}, {4, 0, 2}, {8, 0, 4}, {8, 0.25, 2}, {8, 1, 8}, {8, 0.01, 1}} {
		f, rs := filled(t, test.replicas,
			fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 2, MaxEjected: test.share}}))
		others := put(t, f, spec("build", 100))
		for _, r := range rs {
			fail(t, r)
			fail(t, r)
		}
		if got := f.Snapshot("debug").Tripped().Count(); got != test.want {
			t.Errorf("%d replicas, share %g: %d ejected, want %d", test.replicas, test.share, got, test.want)
		}
		fail(t, others)
		if fail(t, others); others.State() != "open" {
			t.Error("another specialist's replica is bound by this one's share")
		}
	}
}

func TestAPlaceThatFreesUpGoesToTheNextFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1, OpenFor: time.Second}}))
		fail(t, rs[0])
		if fail(t, rs[1]); rs[1].State() != "closed" || f.Snapshot("debug").Tripped() != index.HostSet(0) {
			t.Fatalf("both are ejected: %s, %s", rs[0].State(), rs[1].State())
		}
		time.Sleep(2 * time.Second)
		settle(t, rs[0], fleet.Succeeded)
		if fail(t, rs[1]); rs[1].State() != "open" || f.Snapshot("debug").Tripped() != index.HostSet(1) {
			t.Errorf("the second is %s", rs[1].State())
		}
	})
}

func TestRemovingHealthyReplicasTakesPlacesBack(t *testing.T) {
	f, rs := filled(t, 8, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1}}))
	for _, h := range []int{5, 1, 7, 2} {
		fail(t, rs[h])
	}
	for _, name := range []string{"debug-0", "debug-3", "debug-4", "debug-6"} {
		f.Remove(name)
	}
	if got := f.Snapshot("debug").Tripped(); got != index.HostSet(1, 5) {
		t.Errorf("ejected are %v, want those that tripped first", got)
	}
	if rs[7].State() != "closed" || rs[5].State() != "open" {
		t.Errorf("7 is %s, 5 is %s", rs[7].State(), rs[5].State())
	}
	for _, name := range []string{"debug-5", "debug-1"} {
		f.Remove(name)
	}
	if fail(t, rs[7]); f.Snapshot("debug").Tripped() != index.HostSet(7) {
		t.Error("a removed replica holds a place")
	}
}

// The share holds, and a bit is set exactly for breakers that are not closed, whatever happens in whatever order.
func TestTheShareHoldsUnderRandomTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		draw := rand.New(rand.NewPCG(3, 4))
		f := fleet.New(fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 2, OpenFor: time.Second,
			Probes: 2}}))
		for range 20_000 {
			h := index.HostID(draw.IntN(9))
			switch s := f.Snapshot("debug"); draw.IntN(12) {
			case 0:
				put(t, f, spec("debug", h))
			case 1:
				f.Remove(spec("debug", h).Name)
			case 2:
				time.Sleep(time.Duration(draw.IntN(700)) * time.Millisecond)
			default:
				if r := s.Replica(h); r != nil {
					if p, err := r.Take(); err == nil {
						p.Settle(fleet.Outcome(draw.IntN(3)))
					}
				}
			}
			checkShare(t, f.Snapshot("debug"))
		}
	})
}

func checkShare(t *testing.T, s *fleet.Snapshot) {
	t.Helper()
	if n, most := s.Tripped().Count(), max(1, s.Len()/2); n > most {
		t.Fatalf("%d of %d are ejected", n, s.Len())
	}
	for h := range s.Hosts.All() {
		if r := s.Replica(h); s.Tripped().Has(h) == (r.State() == "closed") {
			t.Fatalf("host %d is %s, bit %t", h, r.State(), s.Tripped().Has(h))
		}
	}
}

func BenchmarkTake(b *testing.B) {
	f := fleet.New()
	r, err := f.Put(spec("debug", 0))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p, err := r.Take()
		if err != nil {
			b.Fatal(err)
		}
		p.Settle(fleet.Succeeded)
	}
}
