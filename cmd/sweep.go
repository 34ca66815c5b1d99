package cmd

import (
	"context"
	"time"

	"octet/routing/index"
)

// tidyEvery is how soon a slot whose replica has gone is swept, and given back where the replica is to return: sooner
// than an engine restarts.
const tidyEvery = 50 * time.Millisecond

// tidy sweeps slots whose replicas have gone or shut down, until ctx ends. A resident that shut down gets its slot back
// empty, for the epoch that its next start begins.
func (h *house) tidy(ctx context.Context) {
	periodically(ctx, tidyEvery, func(time.Time) {
		for host := range h.index.Unswept().All() {
			h.sweep(ctx, host)
		}
	})
}

func (h *house) sweep(ctx context.Context, host index.HostID) {
	err := h.index.Sweep(ctx, host)
	if err == nil && h.houses(host) {
		err = h.index.Admit(host)
	}
	if err != nil && ctx.Err() == nil {
		h.log.Warn("index: a slot could not be swept", "slot", host, "error", err)
	}
}

// houses says whether a slot is a resident's.
func (h *house) houses(host index.HostID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.residents {
		if r.replica.Host == host {
			return true
		}
	}
	return false
}
