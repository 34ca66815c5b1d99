package adapters

import (
	"cmp"
	"time"
)

// Rules are how a specialist's adapters are placed. Zero fields take the defaults, but for Slots.
type Rules struct {
	Slots     int           // adapters that one host may hold; 0 means as many as its engine says
	Swaps     int           // adapters a minute that one host unloads to make room; default 30
	Waiting   int           // claims that may wait for one adapter on one host; default 1024
	Retry     time.Duration // after a load that failed, doubling with each to RetryMost; default 5s
	RetryMost time.Duration // default 5m
	// share of MaxRunning that one adapter may take of its hosts before it gets another; default 0.5
	Grow   float64
	Shrink float64       // share at or below which it would have enough with one host less; default 0.2
	Hold   time.Duration // so long it must be above Grow; default 5s
	Calm   time.Duration // so long it must be below Shrink; default 1m
	// a claim waits so long for an idle adapter to go before one in use takes no more; default 2s
	Patience time.Duration
	Linger   time.Duration // an edition that was replaced stays loaded so long; default 10s
	Timeout  time.Duration // of a load, an unload and a list; default 1m
	Memory   time.Duration // half-life of what is remembered of requests for an adapter; default 30m
}

// withDefaults returns r with its zero fields set.
func (r Rules) withDefaults() Rules {
	r.Swaps = cmp.Or(r.Swaps, 30)
	r.Waiting = cmp.Or(r.Waiting, 1024)
	r.Retry, r.RetryMost = cmp.Or(r.Retry, 5*time.Second), cmp.Or(r.RetryMost, 5*time.Minute)
	r.Grow, r.Shrink = cmp.Or(r.Grow, 0.5), cmp.Or(r.Shrink, 0.2)
	r.Hold, r.Calm = cmp.Or(r.Hold, 5*time.Second), cmp.Or(r.Calm, time.Minute)
	r.Patience, r.Linger = cmp.Or(r.Patience, 2*time.Second), cmp.Or(r.Linger, 10*time.Second)
	r.Timeout = cmp.Or(r.Timeout, time.Minute)
	r.Memory = cmp.Or(r.Memory, 30*time.Minute)
	return r
}

// burst is how many swaps a host may make at once.
func (r *Rules) burst() float64 { return max(1, float64(r.Swaps)/10) }

// mostSlots bounds hosts of which nothing else does.
const mostSlots = 256

// Adapter is an adapter as it is declared.
type Adapter struct {
	Name     string // by which requests ask for it
	Path     string // where engines load it from; "" means that they have it already
	Version  string
	Replicas int // hosts that keep it loaded; 0 means all
}

// HostTerms are what a Placement must know of a host.
type HostTerms struct {
	Loads      bool // its engine can load and unload adapters at run time
	Lists      bool // its engine says which adapters it has: what it does not list it does not have
	MaxRunning int  // requests that its engine runs at once
}
