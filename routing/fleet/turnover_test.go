package fleet_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"octet/routing/fleet"
)

// pooled returns a replica with so many KV blocks; 0 is unknown.
func pooled(t *testing.T, blocks int) *fleet.Replica {
	s := spec("debug", 0)
	s.Blocks = blocks
	f := fleet.New()
	put(t, f, s)
	return f.All()[0]
}

// A pool of 100 blocks: room now costs nothing, then the used part has to come free in proportion.
func TestTurnoverIsTheShareOfThePoolThatMustComeFree(t *testing.T) {
	for _, c := range []struct {
		usage   float64
		waiting int
		need    float64
		want    float64
	}{
		{0, 0, 200, 0},    // no answer holds anything that could come free
		{0.5, 0, 50, 0},   // fits
		{0.5, 0, 60, 0.2}, // 10 of 50 used blocks
		{0.9, 1, 10, 10. / 90},
		{1, 3, 25, 1},
		{0.01, 1, 100, 2},   // no more than a life for each
		{1, 1000, 1, 10.01}, // what is reported may be odd
		{0.001, 1e6, 5, 1e6 + 1},
	} {
		r := pooled(t, 100)
		r.LoadFrom(func() fleet.Load { return fleet.Load{KVUsage: c.usage, Waiting: c.waiting} })
		if got := r.Turnover(c.need); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestTurnoverOfAPoolOfUnknownSizeIsNone(t *testing.T) {
	r := pooled(t, 0)
	r.LoadFrom(func() fleet.Load { return fleet.Load{KVUsage: 1, Waiting: 9} })
	if got := r.Turnover(1000); got != 0 {
		t.Error(got)
	}
}

// A fuller pool, a longer queue and a longer prompt never mean a shorter wait, whether the load is sampled or asked
// for.
func TestTurnoverGrowsWithEach(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	at := func(usage float64, waiting int, need float64) float64 {
		r := pooled(t, 100)
		r.SampleFrom(func() fleet.Load { return fleet.Load{KVUsage: usage, Waiting: waiting} })
		return r.Turnover(need)
	}
	for range 2000 {
		usage, waiting, need := 0.05+0.9*draw.Float64(), draw.IntN(20), float64(draw.IntN(20))
		low := at(usage, waiting, need)
		if at(usage, waiting+1, need) < low || at(usage, waiting, need+1) < low {
			t.Fatalf("usage %v, %d waiting, %v blocks", usage, waiting, need)
		}
		// a queue larger than the pool comes through sooner the more there is to come free
		if fits := need*float64(waiting+1) <= 100; fits && at(min(1, usage+0.05), waiting, need) < low-1e-9 {
			t.Fatalf("usage %v, %d waiting, %v blocks: less when fuller", usage, waiting, need)
		}
	}
}
