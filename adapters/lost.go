package adapters

import (
	"context"
	"slices"
	"time"
)

// Lost is for a request whose engine knows its adapter no more, though it was loaded: the engine has unloaded it by
// itself, or begun anew. It asks the engine, and returns true if the edition is not known to be there: a new Hold has
// it loaded. It returns false if the engine has it, or does not say.
func (k *Keeper) Lost(ctx context.Context, host uint16, served string) (lost bool) {
	k.mu.Lock()
	timeout := k.p.rules.Timeout
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := k.hear(ctx, host, func(t Told) { lost = k.p.Lost(host, served, t, time.Now()) })
	return err == nil && lost
}

// Lost notes what an engine says of one edition, and returns true if that is not known to be there. Loads of others may
// be under way.
func (p *Placement) Lost(id uint16, served string, t Told, now time.Time) bool {
	e, h := p.served[served], p.host(id)
	if e == nil || h == nil || h.Lists && h.ops != t.Ops {
		return true // something was loaded or unloaded since: the engine is to be asked again
	}
	if !h.Lists || slices.ContainsFunc(t.Listed, func(l Listed) bool { return h.names(l, e) }) {
		return false
	}
	if c := h.at(e); c != nil && c != h.busy {
		p.missing(c, now)
	}
	return true
}
