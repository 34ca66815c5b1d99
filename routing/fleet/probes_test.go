package fleet_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
)

// Ten thousand trials: requests of all kinds rush at a breaker that has just become half-open. Never are there more
// probes under way than it has places, cancelled ones give theirs back, and it closes on as many successes as it has
// places, no fewer.
func TestNoExtraProbeInTenThousandConcurrentTrials(t *testing.T) {
	const trials, rush, probes = 10_000, 6, 2
	synctest.Test(t, func(t *testing.T) {
		for trial := range uint64(trials) {
			draw := rand.New(rand.NewPCG(trial, 9))
			_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1, OpenFor: time.Second,
				Probes: probes}}))
			r := rs[0]
			fail(t, r)
			time.Sleep(time.Second + time.Millisecond)
			var outcomes [rush]fleet.Outcome
			for i := range outcomes {
				outcomes[i] = fleet.Outcome(draw.IntN(3))
			}
			under, most, good, bad := rushAt(r, outcomes[:])
			if most > probes {
				t.Fatalf("trial %d: %d probes under way", trial, most)
			}
			if under != 0 || r.State() == "closed" && good < probes || r.State() == "half-open" && bad > 0 {
				t.Fatalf("trial %d: %s after %d good and %d bad probes, %d under way", trial, r.State(), good, bad,
					under)
			}
			if r.State() == "half-open" && !r.Admits() && good < probes {
				t.Fatalf("trial %d: a cancelled probe kept its place: %d good", trial, good)
			}
		}
	})
}

// rushAt sends all at once and returns how the probes that were let through a breaker that was half-open went.
func rushAt(r *fleet.Replica, outcomes []fleet.Outcome) (under, most, good, bad int32) {
	var now, peak, passed, failed atomic.Int32
	var all sync.WaitGroup
	for _, o := range outcomes {
		all.Go(func() {
			p, err := r.Take()
			if err != nil {
				return
			}
			half := r.State() == "half-open"
			n := now.Add(1)
			for was := peak.Load(); half && n > was && !peak.CompareAndSwap(was, n); was = peak.Load() {
			}
			now.Add(-1)
			p.Settle(o)
			switch o {
			case fleet.Succeeded:
				passed.Add(1)
			case fleet.Failed:
				failed.Add(1)
			default: // cancelled: neither
			}
		})
	}
	all.Wait()
	return now.Load(), peak.Load(), passed.Load(), failed.Load()
}

// BenchmarkBreakerDecision is what a request pays to know whether a replica may be tried.
func BenchmarkBreakerDecision(b *testing.B) {
	f := fleet.New()
	r, err := f.Put(spec("debug", 0))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !r.Admits() {
			b.Fatal("open")
		}
	}
}
