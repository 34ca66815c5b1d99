package peering

import (
	"octet/app/peering/ledgers"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/peers"
	"octet/scheduler/gate"
)

// Replica is one of this gateway's.
type Replica struct {
	Key   uint64 // see peers.Key
	Fleet *fleet.Replica
	Gate  *gate.Gate
}

// tell has a replica's ledger and Gate take what other gateways have there.
func (r *Replica) tell(w peers.Work) {
	scored, admitted := ledgers.Beside(w)
	r.Fleet.Beside(scored)
	r.Gate.Beside(admitted)
}

// alone forgets all other gateways, as this one leaves.
func (g *Group) alone() {
	g.telling.Lock()
	defer g.telling.Unlock()
	for i := range g.replicas.Load().list {
		g.replicas.Load().list[i].tell(peers.Work{})
	}
}

// replicas are those in force.
type replicas struct {
	list []Replica
	at   map[uint64][]*Replica   // by key: two specialists of one engine have one
	keys map[index.HostID]uint64 // by where the replica is held in the fleet
}

func newReplicas(list []Replica) *replicas {
	served := &replicas{list: list, at: make(map[uint64][]*Replica, len(list)), keys: hosts(list)}
	for i := range list {
		r := &list[i]
		served.at[r.Key] = append(served.at[r.Key], r)
	}
	return served
}
