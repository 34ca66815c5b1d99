package peering

import (
	"maps"
	"slices"

	"octet/app/peering/ledgers"
	"octet/routing/peers"
)

// unheard is what gateways are taken to have that cannot be heard while the store is away: at each replica as much as
// this one has there itself. By that each of n takes about an n-th of an engine, as it did before, where each would
// take all of it for free.
type unheard struct {
	parts int                   // gateways that there were, this one included; 0 while the store is there
	work  map[uint64]peers.Work // by replica
}

// end takes none to be there that is not heard, and returns the replicas at which that is news.
func (u *unheard) end() (changes []uint64) {
	changes = slices.Collect(maps.Keys(u.work))
	clear(u.work)
	u.parts = 0
	return changes
}

// assume takes each gateway that is not heard, so many being heard, to have at each replica what this one has, and
// appends the replicas at which that is news to changes. An engine that says that it runs no other gateway's requests
// is believed.
func (u *unheard) assume(heard int, served *replicas, work map[uint64]peers.Work, changes []uint64) []uint64 {
	missing := u.parts - 1 - heard
	if missing <= 0 && len(u.work) == 0 {
		return changes
	}
	maps.DeleteFunc(u.work, func(key uint64, _ peers.Work) bool { return served.at[key] == nil })
	for key, list := range served.at {
		var all peers.Work
		if !aloneAt(list) {
			all = ledgers.Unheard(work[key], missing)
		}
		if u.work[key] != all {
			changes, u.work[key] = append(changes, key), all
		}
	}
	if missing <= 0 {
		clear(u.work)
	}
	return changes
}

// aloneAt returns true if an engine reports that it runs no requests but this gateway's.
func aloneAt(list []*Replica) bool {
	for _, r := range list {
		if said := r.Fleet.Reported(); !said.HasLoad || said.Others > 0 {
			return false
		}
	}
	return true
}
