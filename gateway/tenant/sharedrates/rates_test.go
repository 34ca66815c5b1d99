package sharedrates

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/internal/redistest"
)

func TestGatewaysTogetherLetThroughNoMoreThanTheRate(t *testing.T) {
	server := redistest.Start(t)
	gateways := [3]*Rates{}
	for i := range gateways {
		gateways[i] = New(Config{Addr: server.Addr, Timeout: 5 * time.Second})
		defer gateways[i].Close()
	}
	const perSecond, burst = 10.0, 20
	var through, waits atomic.Int64
	start := time.Now()
	var all sync.WaitGroup
	for _, g := range gateways {
		all.Go(func() {
			for range 100 {
				switch wait, err := g.Take("acme:requests", perSecond, burst, 1); {
				case err != nil:
					t.Error(err)
				case wait > 0:
					waits.Add(1)
				default:
					through.Add(1)
				}
			}
		})
	}
	all.Wait()
	most := int64(burst + perSecond*time.Since(start).Seconds() + 1)
	if n := through.Load(); n < burst || n > most || n+waits.Load() != 300 {
		t.Errorf("%d of 300 went through, at most %d may; %d were told to wait", n, most, waits.Load())
	}
	if wait, err := gateways[0].Take("another", perSecond, burst, burst); err != nil || wait != 0 {
		t.Errorf("another bucket: %v %v", wait, err)
	}
	if err := gateways[0].Spend("spent", perSecond, burst, 1000); err != nil {
		t.Error(err)
	}
	if wait, err := gateways[1].Take("spent", perSecond, burst, 1); err != nil || wait <= 0 {
		t.Errorf("what one has spent the other has too: %v %v", wait, err)
	}
}

// What was used beyond what a bucket had is waited for, by all; what is given back can be taken at once, up to the
// burst.
func TestABucketMayOwe(t *testing.T) {
	server := redistest.Start(t)
	one, other := New(Config{Addr: server.Addr, Timeout: 5 * time.Second}),
		New(Config{Addr: server.Addr, Timeout: 5 * time.Second})
	defer one.Close()
	defer other.Close()
	const perSecond, burst = 10.0, 20
	step := func(spent, taken int, least, most time.Duration) {
		t.Helper()
		if err := one.Spend("acme:tokens", perSecond, burst, spent); err != nil {
			t.Fatal(err)
		}
		if wait, err := other.Take("acme:tokens", perSecond, burst, taken); err != nil || wait < least || wait > most {
			t.Errorf("%d spent, %d to take: %v %v, want %v to %v", spent, taken, wait, err, least, most)
		}
	}
	step(100, 1, time.Second, 8100*time.Millisecond) // 80 are owed, and may have been for a while
	step(-100, burst, 0, 0)                          // all of it
	step(-100, burst+1, 0, time.Hour)                // no more than the burst is there
	step(-1000, burst, 0, 0)
}

// A rate that is changed begins anew, as where each gateway counts for itself: a tenant whose bucket was empty does not
// wait for the time that the old rate would have taken to fill it. The old rate's requests are settled with it.
func TestARateThatIsChangedBeginsAnew(t *testing.T) {
	r := New(Config{Addr: redistest.Start(t).Addr, Timeout: 5 * time.Second})
	defer r.Close()
	const slow, fast, burst = 1.0, 100.0, 600
	if wait, err := r.Take("acme:tokens", slow, burst, burst); err != nil || wait != 0 {
		t.Fatalf("%v %v", wait, err)
	}
	if wait, err := r.Take("acme:tokens", slow, burst, burst); err != nil || wait < time.Minute {
		t.Fatalf("an empty bucket: %v %v", wait, err)
	}
	if wait, err := r.Take("acme:tokens", fast, 10*burst, burst); err != nil || wait != 0 {
		t.Errorf("under a higher rate: %v %v", wait, err)
	}
	if err := r.Spend("acme:tokens", slow, burst, 1000*burst); err != nil {
		t.Fatal(err)
	}
	if wait, err := r.Take("acme:tokens", fast, 10*burst, burst); err != nil || wait != 0 {
		t.Errorf("what the old rate owes is owed to the new one: %v %v", wait, err)
	}
}

func TestARedisThatIsAwayIsSeldomAskedAndComesBack(t *testing.T) {
	server := redistest.Start(t)
	var told []bool
	r := New(Config{Addr: server.Addr, Timeout: time.Second, Retry: 50 * time.Millisecond,
		Changed: func(away error) { told = append(told, away != nil) }})
	defer r.Close()
	if _, err := r.Take("x", 1, 1, 1); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	for range 1000 {
		if _, err := r.Take("x", 1, 1, 1); !errors.Is(err, ErrAway) {
			t.Fatal(err)
		}
	}
	if !r.Away() {
		t.Error("nothing shows that it is away")
	}
	server.Restart(true)
	// real time: a real server starts
	for end := time.Now().Add(10 * time.Second); r.Away() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		_, _ = r.Take("x", 1, 1, 1)
	}
	if r.Away() || len(told) != 2 || !told[0] || told[1] {
		t.Errorf("away %v, told %v", r.Away(), told)
	}
}
