package app

import (
	"context"
	"math/rand/v2"
	"reflect"
	"sync"

	"octet/config"
	"octet/routing/fleet"
)

// watched is how replicas are watched by the configuration in force.
type watched struct {
	mu      sync.Mutex
	now     config.Fleet
	changed chan struct{} // closed and replaced by each change
}

func newWatched(f config.Fleet) *watched { return &watched{now: f, changed: make(chan struct{})} }

// change has replicas watched by f from now on.
func (w *watched) change(f config.Fleet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reflect.DeepEqual(w.now, f) {
		return
	}
	w.now = f
	close(w.changed)
	w.changed = make(chan struct{})
}

// get returns what is in force, and a channel that closes when that changes.
func (w *watched) get() (config.Fleet, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now, w.changed
}

// watchFleet probes the replicas and reads their metrics as the configuration in force says, until ctx ends.
func (a *App) watchFleet(ctx context.Context) {
	for ctx.Err() == nil {
		now, changed := a.watched.get()
		a.watchBy(ctx, now, changed)
	}
}

// watchBy watches the replicas by f until ctx ends, or f is not in force any more.
func (a *App) watchBy(ctx context.Context, f config.Fleet, changed <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	monitor := fleet.Monitor{
		Fleet: a.replicas.fleet, Prober: prober{a}, Jitter: rand.Float64, Interval: f.ProbeInterval,
		Timeout: f.ProbeTimeout, Unhealthy: f.UnhealthyAfter, HealthyAfter: f.HealthyAfter,
	}
	running.Go(func() { monitor.Run(ctx) })
	running.Go(func() { a.replicas.reconcileGates(ctx, a.keepers, f.ScrapeInterval, f.ProbeTimeout) })
	select {
	case <-changed:
	case <-ctx.Done():
	}
}
