package fleet_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"

	"octet/routing/fleet"
)

// plainly is a gobreaker that is asked about every request and told of every end: what a replica's breaker must not
// differ from.
func plainly(b fleet.Breaker) *gobreaker.TwoStepCircuitBreaker[struct{}] {
	cancelled := errors.New("cancelled")
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: uint32(b.Probes), Interval: b.Window, BucketPeriod: b.Window / 10, Timeout: b.OpenFor,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			settled := n.TotalSuccesses + n.TotalFailures
			return n.ConsecutiveFailures >= uint32(b.Failures) ||
				b.Ratio > 0 && settled >= uint32(b.MinRequests) && float64(n.TotalFailures) >= b.Ratio*float64(settled)
		},
		IsExcluded: func(err error) bool { return err != nil && err.Error() == cancelled.Error() },
	})
}

// open is a request that both have let through.
type open struct {
	permit fleet.Permit
	done   func(error)
}

func TestABreakerTripsWhenGobreakerAskedAboutEachRequestWould(t *testing.T) {
	results := []error{fleet.Succeeded: nil, fleet.Failed: errors.New("failed"),
		fleet.Cancelled: errors.New("cancelled")}
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 1))
			b := fleet.Breaker{
				Failures: 1 + draw.IntN(4), MinRequests: 4 + draw.IntN(8), Probes: 1 + draw.IntN(3),
				OpenFor: time.Second,
				Window:  []time.Duration{0, 3, time.Second, 3 * time.Second, 30 * time.Second}[draw.IntN(5)],
				Ratio:   []float64{0, 0, 0.4}[draw.IntN(3)],
			}
			_, rs := filled(t, 1, fleet.WithTerms(fleet.Terms{Breaker: b}))
			r, oracle := rs[0], plainly(b)
			health := 2 + draw.IntN(30) // of so many requests one fails
			var under []open
			for step := range 400 {
				switch roll := draw.IntN(10); {
				case roll < 5 || len(under) == 0:
					done, err := oracle.Allow()
					p, got := r.Take()
					if (err == nil) != (got == nil) {
						t.Fatalf("seed %d, %+v, step %d: gobreaker says %v, the breaker %v", seed, b, step, err, got)
					}
					if err == nil {
						under = append(under, open{p, done})
					}
				case roll < 9:
					i, o := draw.IntN(len(under)), fleet.Succeeded
					if draw.IntN(health) == 0 {
						o = fleet.Outcome(1 + draw.IntN(2))
					}
					under[i].permit.Settle(o)
					under[i].done(results[o])
					under = append(under[:i], under[i+1:]...)
				case draw.IntN(3) == 0:
					time.Sleep(time.Duration(draw.IntN(4000)) * time.Millisecond)
				default:
					time.Sleep(time.Duration(draw.IntN(400)) * time.Millisecond)
				}
				if step%40 == 0 {
					health = 1 + draw.IntN(30)
				}
				if got := r.State(); got != oracle.State().String() {
					t.Fatalf("seed %d, %+v, step %d: %s, gobreaker is %s", seed, b, step, got, oracle.State())
				}
			}
		})
	}
}
