package sharedrates

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/gateway/tenant/budget"
	"octet/internal/redistest"
)

// Three gateways spend one budget in a real Redis: none is overspent, and one that loses its memory is told what was
// known.
func TestGatewaysTogetherSpendNoMoreThanTheBudget(t *testing.T) {
	server := redistest.Start(t)
	limits, now := budget.Limits{Day: 300, Month: 1000}, time.Now()
	accounts := [3]*budget.Account{}
	for i := range accounts {
		r := New(Config{Addr: server.Addr, Timeout: 5 * time.Second, Retry: time.Millisecond})
		defer r.Close()
		accounts[i] = budget.NewLedger(r, len(accounts)).Of("acme")
	}
	var taken atomic.Int64
	var all sync.WaitGroup
	for _, a := range accounts {
		all.Go(func() {
			for range 50 {
				if a.Take(now, 4, limits) == nil {
					a.Add(now, now, -1)
					taken.Add(3)
				}
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n < 297 || n > 300 {
		t.Errorf("%d were spent of 300", n)
	}
	for i, a := range accounts {
		if u := a.Usage(now); u.Day.Tokens != taken.Load() || u.Month.Tokens != taken.Load() || u.Stale {
			t.Errorf("gateway %d: %+v", i, u)
		}
	}
	if life, err := server.Do("PTTL", "octet:budget:{\"acme\"}:"+now.UTC().Format(time.DateOnly)); err != nil ||
		life == ":-1" || life == ":-2" {
		t.Errorf("a count is kept for ever, or is not there: %s %v", life, err)
	}
	server.Restart(true)
	for i, a := range accounts {
		u := a.Usage(now)
		for u.Stale { // it has just come back
			u = a.Usage(now)
		}
		if u.Day.Tokens != taken.Load() {
			t.Errorf("gateway %d, of a Redis that has lost its memory: %+v", i, u)
		}
	}
}
