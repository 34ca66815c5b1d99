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
	app     *App

	members *discovery.Members // guarded by App.buildMu
	failing string             // why the last round made no generation; empty if it could; guarded by App.buildMu
}

func newDiscovered(a *App) *discovered {
	d := &discovered{app: a, leases: discovery.NewLeases(), changed: make(chan struct{}, 1),
		members: discovery.NewMembers()}
	d.sources = discovery.NewSources(a.Log, d.changed, a.Options.sourceKinds()...)
	d.plan.Store(&discovery.Plan{})
	return d
}

// sourceKinds are the kinds of sources that specialists[].discover may ask for, in the order in which they win.
func (o *Options) sourceKinds() []discovery.Kind {
	if o.Finders != nil {
		return o.Finders
	}
	return []discovery.Kind{
		discovery.File(config.Options{Environ: os.Environ(), Engines: o.Source.Engines}),
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

// planned returns listed with what was found. The caller holds App.buildMu.
func (d *discovered) planned(listed *config.Config) *discovery.Plan {
	now := time.Now()
	found, next := d.found(now)
	plan := d.members.Merge(listed, found, inForce{d.app, d.app.replicas.present()}, now)
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

// mark has the replicas that are found no more take no new requests, and those that are found again take them. The
// caller holds App.buildMu.
func (d *discovered) mark(plan *discovery.Plan) {
	d.members.Commit(plan)
	if before := d.plan.Swap(plan); plan.Pending > 0 && before.Pending == 0 {
		d.app.Log.Warn("no slot is free for new replicas yet: they join as slots are swept", "replicas", plan.Pending)
	}
	present := d.app.replicas.present()
	for _, f := range d.members.In() {
		if r := present[f.Replica.Name]; r != nil {
			r.served.Fleet.SetLeft(plan.Left[f.Replica.Name])
		}
	}
}

// reconcile has what was found by now in force. It makes a generation only where the replicas are others. It returns
// after how long it is to be called again; 0 if by changes alone.
func (d *discovered) reconcile(ctx context.Context) time.Duration {
	d.app.buildMu.Lock()
	defer d.app.buildMu.Unlock()
	plan := d.planned(d.app.listed)
	if !d.stale.Swap(false) && discovery.Same(plan.Config, d.app.Config()) {
		d.mark(plan)
		return plan.Again
	}
	if err := d.app.apply(ctx, d.app.listed); err != nil {
		if ctx.Err() == nil && d.failing != err.Error() {
			d.failing = err.Error()
			d.app.Log.Error("what was found is not taken over, and is tried again", "error", err)
		}
		d.stale.Store(true)
		return retryFound
	}
	d.failing = ""
	return d.plan.Load().Again
}

// rebuild has a new generation made, after an engine has told what was not known of it.
func (d *discovered) rebuild() {
	d.stale.Store(true)
	discovery.Poke(d.changed)
}

// retryFound is how soon a generation that could not be made is tried again.
const retryFound = time.Second

// lookFirst takes over what sources find at once. Nothing is waited for where there are none.
func (d *discovered) lookFirst() {
	late := time.NewTimer(firstLook)
	defer late.Stop()
	select {
	case <-d.sources.Told():
	case <-late.C:
	}
	d.reconcile(context.Background())
}

// follow has what sources find taken over, until ctx ends.
func (d *discovered) follow(ctx context.Context) {
	wait := d.sources.Start(ctx)
	defer wait()
	discovery.Loop(ctx, d.changed, d.settle, d.reconcile)
}

// settle returns for how long changes are put off: what an engine has told is taken over at once.
func (d *discovered) settle() time.Duration {
	if d.stale.Load() {
		return 0
	}
	return d.app.Config().Fleet.Discovery.Settle
}
