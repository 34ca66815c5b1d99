package adapters

import (
	"context"
	"slices"
	"time"
)

// Lost is for a request whose engine does not know the adapter that it holds: the engine has unloaded it by itself, or
// begun anew. It asks the engine, and returns true if the edition is not known to be there, or was loaded again for
// another request since: a new Hold has it loaded, or finds it. It returns false if the engine has it, or does not say.
func (h *Hold) Lost(ctx context.Context) (lost bool) {
	k, claim := h.keeper, h.claim
	k.mu.Lock()
	timeout, outlived := k.p.rules.Timeout, claim.outlived()
	k.mu.Unlock()
	if outlived {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := k.hear(ctx, claim.at.h.id, func(t Told) { lost = k.p.Lost(claim, t, time.Now()) })
	return err == nil && lost
}

// Lost notes what an engine says of one edition, and returns true if what claim holds is not known to be there. Loads
// of others may be under way.
func (p *Placement) Lost(claim *Claim, t Told, now time.Time) bool {
	e, h := claim.at.e, p.host(claim.at.h.id)
	if p.served[e.served] != e || h != claim.at.h || claim.outlived() || h.Lists && h.ops != t.Ops {
		return true // something was loaded or unloaded since: the engine is to be asked again
	}
	if !h.Lists || slices.ContainsFunc(t.Listed, func(l Listed) bool { return h.names(l, e) }) {
		return false
	}
	if claim.at != h.busy {
		p.missing(claim.at, now)
	}
	return true
}
