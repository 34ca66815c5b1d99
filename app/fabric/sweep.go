package fabric

import (
	"context"
	"time"

	"octet/internal/contain"
	"octet/routing/index"
)

// sweepEvery is how soon a slot whose replica has gone is swept, and admitted again if the replica is to return: sooner
// than an engine restarts.
const sweepEvery = 50 * time.Millisecond

// sweepSlots sweeps slots whose replicas have gone or shut down, until ctx ends. A present replica that shut down gets
// its slot back empty, for the epoch that its next start begins.
func (f *Fabric) sweepSlots(ctx context.Context) {
	contain.Every(ctx, sweepEvery, func(time.Time) {
		for host := range f.index.Unswept().All() {
			f.sweep(ctx, host)
		}
	})
}

func (f *Fabric) sweep(ctx context.Context, host index.HostID) {
	err := f.index.Sweep(ctx, host)
	if _, present := f.replicaAt(host); err == nil && present {
		err = f.index.Admit(host)
	}
	if err != nil && ctx.Err() == nil {
		f.log.Warn("index: a slot could not be swept", "slot", host, "error", err)
	}
}
