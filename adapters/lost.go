package adapters

import (
	"context"
	"slices"
	"time"
)

// Lost is for a request whose engine knows its adapter no more, though it was loaded: the engine has unloaded it by
// itself, or begun anew. It asks the engine, and returns true if the edition is not known to be there: a new Hold has
// it loaded. It returns false if the engine has it, or does not say.
func (k *Keeper) Lost(ctx context.Context, host uint16, served string) bool {
	k.mu.Lock()
	m, ops, timeout := k.members[host], k.p.Ops(host), k.p.rules.Timeout
	k.mu.Unlock()
	if m.Engine == nil || !m.Lists {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	listed, err := m.Engine.List(ctx)
	if err != nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.members[host].Engine != m.Engine || !k.p.Lost(host, served, Told{Listed: listed, Ops: ops}, time.Now()) {
		return false
	}
	k.publish()
	k.perform(k.p.StepHost(host, time.Now()))
	return true
}

// Lost notes what an engine says of one edition, and returns true if that is not known to be there. Loads of others may
// be under way.
func (p *Placement) Lost(id uint16, served string, t Told, now time.Time) bool {
	e, h := p.served[served], p.host(id)
	if e == nil || h == nil || h.ops != t.Ops {
		return true // something was loaded or unloaded since: the engine is to be asked again
	}
	if slices.ContainsFunc(t.Listed, func(l Listed) bool { return h.names(l, e) }) {
		return false
	}
	if c := h.at(e); c != nil && c != h.busy {
		p.missing(c, now)
	}
	return true
}
