package adapters

import (
	"slices"
	"time"
)

// Rest notes whether the engine of a host has put its model aside. What it has loaded it has again afterwards. What
// waits there goes elsewhere.
func (p *Placement) Rest(id uint16, rests bool) {
	h := p.host(id)
	if h == nil || h.rests == rests {
		return
	}
	h.rests = rests
	for _, c := range slices.Clone(h.copies) {
		if rests && c != h.busy {
			c.deny(&Refusal{Adapter: c.e.Name, Reason: ErrGone})
			h.forget(c)
		}
	}
}

// noteRest notes whether the engine of a host rests. mu is held.
func (k *Keeper) noteRest(host uint16) {
	rests := k.members[host].Rests
	k.p.Rest(host, rests != nil && rests())
}

// step has a host do what is next. mu is held.
func (k *Keeper) step(host uint16, now time.Time) {
	k.noteRest(host)
	k.perform(k.p.StepHost(host, now))
}

// Busy returns true while the engine of a host loads or unloads an adapter.
func (k *Keeper) Busy(host uint16) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.p.host(host)
	return h != nil && h.busy != nil
}
