package core

import (
	"fmt"
	"testing"

	"octet/scheduler"
)

// MEGA-40, MEGA-41: which of two equals gives way follows from what it would cost at their length. Below, 1 ms computes
// a token and 20 ms carry the state out and back: up to 20 tokens a hybrid is computed again like any other, and then
// pure attention goes first; beyond, the copy is cheaper. Where host memory is too small it never is.
func TestVictimFollowsTheComputedCost(t *testing.T) {
	for _, c := range []struct {
		length int
		host   int64
		victim string
	}{
		{8, 1 << 20, "pure"}, {16, 1 << 20, "pure"}, {20, 1 << 20, "pure"}, {21, 1 << 20, "hybrid"},
		{400, 1 << 20, "hybrid"},
		{400, 0, "pure"}, {400, 999, "pure"},
	} {
		for _, firstIsHybrid := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d tokens, %d bytes, hybrid first: %t", c.length, c.host, firstIsHybrid),
				func(t *testing.T) {
					core := mustCore(t, Config{
						Blocks: 1000, BlockSize: 4, MaxRunning: 2, MaxWaiting: 4, TokenBudget: 2000,
						PrefillRate: 1000, SSMStateBytes: 1000, LinkBandwidth: 100_000, HostBytes: c.host,
					})
					for id := range uint64(2) {
						r := asking(id, c.length, 5)
						r.Arrival, r.Hybrid = scheduler.Time(id), (id == 0) == firstIsHybrid
						if _, err := core.Add(r, 0); err != nil {
							t.Fatal(err)
						}
					}
					benchStep(core, nil)
					urgent := asking(9, 10, 5)
					urgent.Priority = 1
					if _, err := core.Add(urgent, 0); err != nil {
						t.Fatal(err)
					}
					benchStep(core, nil)
					if victim := givenWay(core); victim != c.victim {
						t.Errorf("%s gave way, want %s", victim, c.victim)
					}
					if err := core.Check(); err != nil {
						t.Error(err)
					}
				})
		}
	}
}

// givenWay names the kind of the request that gave way in a core of two requests, 0 and 1.
func givenWay(c *Core) string {
	for id := range uint64(2) {
		if s := c.live[id]; s.preempted {
			if s.req.Hybrid {
				return "hybrid"
			}
			return "pure"
		}
	}
	return "nobody"
}
