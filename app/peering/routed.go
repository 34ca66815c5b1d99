package peering

import (
	"time"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
)

// hashesPerSecond is how many hashes of blocks are told, and as many at once after a pause: 100 KB/s. What was routed
// beyond them is not told, and counted.
const hashesPerSecond = 12500

// Routed tells the other gateways which prompt a replica was sent, by the hashes of its blocks, which are read during
// the call. It is for replicas of whose caches no events tell.
func (g *Group) Routed(host index.HostID, chain []kvpool.BlockHash, now time.Time) {
	key, served := g.replicas.Load().keys[host]
	if !served || len(chain) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.roll.Peers() == 0:
		return
	case !g.hashes.AllowN(now, len(chain)):
		g.news.dropped++
		return
	}
	blocks := make([]uint64, len(chain))
	for i, hash := range chain {
		blocks[i] = uint64(hash)
	}
	g.news.routed = append(g.news.routed, &peerspb.Routed{Replica: key, Blocks: blocks})
}

// hearRouted takes in which prompts another gateway has sent to replicas. Hashes of another seed mean nothing here,
// which is said once of each life of a gateway.
func (g *Group) hearRouted(heard peers.Heard) {
	m := heard.Body
	if len(m.GetRouted()) == 0 {
		return
	}
	if m.GetHashing() != g.cfg.Hashing {
		if g.isNew(heard) {
			g.cfg.Log.Warn("a gateway hashes blocks by another seed: set hash_seed, the same at all gateways; until "+
				"then what each sends to replicas without cache events is not known at the others",
				"gateway", heard.From)
		}
		return
	}
	served := g.replicas.Load()
	for _, routed := range m.GetRouted() {
		chain := make([]kvpool.BlockHash, len(routed.GetBlocks()))
		for i, hash := range routed.GetBlocks() {
			chain[i] = kvpool.BlockHash(hash)
		}
		for _, r := range served.at[routed.GetReplica()] {
			g.cfg.Routed(r.Fleet, chain)
		}
	}
}

// isNew notes a gateway whose hashes are not comparable, and returns true if it is not known as one.
func (g *Group) isNew(heard peers.Heard) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	life, known := g.foreign[heard.From]
	if len(g.foreign) >= peers.MaxGateways && !known {
		clear(g.foreign)
	}
	g.foreign[heard.From] = heard.Life
	return life != heard.Life
}

// hosts returns the keys of replicas by where they are held in the fleet.
func hosts(list []Replica) map[index.HostID]uint64 {
	keys := make(map[index.HostID]uint64, len(list))
	for i := range list {
		keys[list[i].Fleet.Spec().Host] = list[i].Key
	}
	return keys
}
