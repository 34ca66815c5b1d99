package app

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"time"

	"octet/app/discovery"
	"octet/app/discovery/kubernetes"
	"octet/config"
)

// discovered are the replicas that no configuration lists. They outlive generations.
type discovered struct {
	sources *discovery.Sources
	leases  *discovery.Leases
	changed chan struct{}                  // cap == 1: a round looks at all that has changed
	stale   atomic.Bool                    // an engine has told what the generation in force does not know
	plan    atomic.Pointer[discovery.Plan] // in force, to be shown

	members *discovery.Members // guarded by App.buildMu
	failing string             // why the last round made no generation; empty if it could; guarded by App.buildMu
}

func newDiscovered(a *App) *discovered {
	d := &discovered{leases: discovery.NewLeases(), changed: make(chan struct{}, 1), members: discovery.NewMembers()}
	d.sources = discovery.NewSources(a.Log, d.changed, a.sourceKinds()...)
	d.plan.Store(&discovery.Plan{})
	return d
}

// sourceKinds are the kinds of sources that specialists[].discover may ask for, in the order in which they win.
func (a *App) sourceKinds() []discovery.Kind {
	if a.Finders != nil {
		return a.Finders
	}
	return []discovery.Kind{
		discovery.File(config.Options{Environ: os.Environ(), Engines: a.Source.Engines}),
		discovery.DNS(net.DefaultResolver),
		kubernetes.Kind(nil),
	}
}

// found returns what all sources have found and what is registered, and how long it is until a registration ends; 0 if
// none does.
func (d *discovered) found(now time.Time) (all []discovery.Found, next time.Duration) {
	for _, s := range d.sources.Standings() {
		for _, rep := range s.Set.Replicas {
			all = append(all, discovery.Found{Specialist: s.Specialist, Replica: rep})
		}
	}
	leases, next := d.leases.Live(now)
	for _, lease := range leases {
		all = append(all, lease.Found)
	}
	return all, next
}

// planned returns listed with what was found. It needs buildMu.
func (a *App) planned(listed *config.Config) *discovery.Plan {
	now := time.Now()
	found, next := a.discovered.found(now)
	plan := a.discovered.members.Merge(listed, found, inForce{a, a.replicas.present()}, now)
	if next > 0 && (plan.Again == 0 || next < plan.Again) {
		plan.Again = next
	}
	return plan
}

// inForce is the generation in force as discovery sees it.
type inForce struct {
	app *App
	all map[string]*replica
}

// Free implements discovery.Fleet.
func (f inForce) Free() int { return f.app.fabric.Free() }

// Stays implements discovery.Fleet. An engine may tell its kind between this and the generation: then it stays out.
func (f inForce) Stays(sp *config.Specialist, rep *config.Replica) bool {
	r := f.all[rep.Name]
	return r != nil && r.key == keyOf(sp, f.app.identities.asTold(rep))
}

// Busy implements discovery.Fleet.
func (f inForce) Busy(name string) bool {
	r := f.all[name]
	return r != nil && r.served.Fleet.Own().Running > 0
}

// mark has the replicas that are found no more take no new requests, and those that are found again take them. It needs
// buildMu.
func (a *App) mark(plan *discovery.Plan) {
	a.discovered.members.Commit(plan)
	if before := a.discovered.plan.Swap(plan); plan.Pending > 0 && before.Pending == 0 {
		a.Log.Warn("no slot is free for new replicas yet: they join as slots are swept", "replicas", plan.Pending)
	}
	present := a.replicas.present()
	for _, f := range a.discovered.members.In() {
		if r := present[f.Replica.Name]; r != nil {
			r.served.Fleet.SetLeft(plan.Left[f.Replica.Name])
		}
	}
}

// reconcile has what was found by now in force. It makes a generation only where the replicas are others. It returns
// after how long it is to be called again; 0 if by changes alone.
func (a *App) reconcile(ctx context.Context) time.Duration {
	a.buildMu.Lock()
	defer a.buildMu.Unlock()
	plan := a.planned(a.listed)
	if !a.discovered.stale.Swap(false) && discovery.Same(plan.Config, a.cfg) {
		a.mark(plan)
		return plan.Again
	}
	if err := a.apply(ctx, a.listed); err != nil {
		if ctx.Err() == nil && a.discovered.failing != err.Error() {
			a.discovered.failing = err.Error()
			a.Log.Error("what was found is not taken over, and is tried again", "error", err)
		}
		a.discovered.stale.Store(true)
		return retryFound
	}
	a.discovered.failing = ""
	return a.discovered.plan.Load().Again
}

// rebuild has a new generation made, after an engine has told what was not known of it.
func (d *discovered) rebuild() {
	d.stale.Store(true)
	discovery.Poke(d.changed)
}

// retryFound is how soon a generation that could not be made is tried again.
const retryFound = time.Second

// lookFirst takes over what sources find at once. Nothing is waited for where there are none.
func (a *App) lookFirst() {
	late := time.NewTimer(firstLook)
	defer late.Stop()
	select {
	case <-a.discovered.sources.Told():
	case <-late.C:
	}
	a.reconcile(context.Background())
}

// discover has what sources find taken over, until ctx ends.
func (a *App) discover(ctx context.Context) {
	wait := a.discovered.sources.Start(ctx)
	defer wait()
	discovery.Loop(ctx, a.discovered.changed, a.settle, a.reconcile)
}

// settle returns for how long changes are put off: what an engine has told is taken over at once.
func (a *App) settle() time.Duration {
	if a.discovered.stale.Load() {
		return 0
	}
	return a.Config().Fleet.Discovery.Settle
}
