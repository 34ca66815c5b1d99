package fleet

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// ErrUntold is what a Prober returns, wrapped, when it could not ask: nothing is known of the replica that was not
// known before.
var ErrUntold = errors.New("fleet: the probe says nothing of the replica")

// Prober asks a replica whether it can serve. It returns when ctx ends at the latest.
type Prober interface {
	Probe(ctx context.Context, r *Replica) error
}

// Monitor probes every replica of a Fleet, those that join later too. Zero fields take their defaults.
type Monitor struct {
	Fleet  *Fleet
	Prober Prober
	// Jitter returns a number in [0,1) that spreads the probes; any goroutine may call it. Nil spreads nothing.
	Jitter func() float64

	Interval     time.Duration // between probes of one replica, ±10 %; default 5 s
	Timeout      time.Duration // of a probe; default 2 s
	Unhealthy    int           // failures in a row that mark a replica down; default 3
	HealthyAfter int           // successes in a row that bring it back; default 2
}

// Run probes until ctx ends: at once, then every Interval, and sooner after a connection or an answer broke, though not
// within a tenth of Interval: that often until a probe succeeds, or enough have failed. It has one goroutine for each
// replica, and returns when all have ended.
func (m Monitor) Run(ctx context.Context) {
	m = m.withDefaults()
	var probing sync.WaitGroup
	defer probing.Wait()
	watched := map[*Replica]bool{}
	for ctx.Err() == nil {
		members, changed := m.Fleet.members()
		now := map[*Replica]bool{}
		for _, r := range members {
			now[r] = true
			if !watched[r] {
				probing.Go(func() { m.observe(ctx, r) })
			}
		}
		watched = now
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// observe probes r until ctx ends or r leaves the Fleet.
func (m Monitor) observe(ctx context.Context, r *Replica) {
	w := &watch{unhealthy: m.Unhealthy, healthy: m.HealthyAfter, interval: m.Interval, wake: make(chan struct{}, 1)}
	r.watch.Store(w)
	defer r.watch.Store(nil)
	for doubted, goesOn := false, true; goesOn; doubted, goesOn = m.awaitNext(ctx, r, w, doubted) {
		err := m.probe(ctx, r)
		if ctx.Err() == nil && !errors.Is(err, ErrUntold) {
			r.recordProbe(err == nil)
			r.probed(err == nil, time.Now())
		}
		doubted = doubted && err != nil && r.Healthy()
	}
}

// awaitNext waits until the next probe of r is due: a pause, or a tenth of Interval if r is doubted, as it is once w
// was woken. goesOn is false if no probe follows because ctx has ended or r has left the Fleet.
func (m Monitor) awaitNext(ctx context.Context, r *Replica, w *watch, doubted bool) (now, goesOn bool) {
	pause := m.pause()
	if doubted {
		pause = m.Interval / 10
	}
	w.next.Store(time.Now().Add(pause).UnixNano())
	due := time.NewTimer(pause)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, false
		case <-r.gone:
			return false, false
		case <-w.wake:
			if !doubted {
				w.next.Store(time.Now().Add(m.Interval / 10).UnixNano())
				due.Reset(m.Interval / 10)
			}
			doubted = true
		case <-due.C:
			return doubted, true
		}
	}
}

func (m Monitor) probe(ctx context.Context, r *Replica) error {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	return m.Prober.Probe(ctx, r)
}

// pause is Interval, up to a tenth less or more.
func (m Monitor) pause() time.Duration {
	if m.Jitter == nil {
		return m.Interval
	}
	return time.Duration(float64(m.Interval) * (0.9 + 0.2*m.Jitter()))
}

func (m Monitor) withDefaults() Monitor {
	m.Interval = cmp.Or(m.Interval, 5*time.Second)
	m.Timeout = cmp.Or(m.Timeout, 2*time.Second)
	m.Unhealthy = cmp.Or(m.Unhealthy, 3)
	m.HealthyAfter = cmp.Or(m.HealthyAfter, 2)
	return m
}
