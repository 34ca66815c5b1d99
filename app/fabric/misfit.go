package fabric

import "octet/routing/index"

// Why a replica's events tell nothing of the prompts that are routed there.
const (
	otherBlocks = "its blocks or their names are not as configured: compare block_size, hash_scheme and hash_seed " +
		"with the engine"
	otherNames = "nothing that was routed there appears in its events: set hash_seed to the engine's PYTHONHASHSEED, " +
		"and hash_scheme to its prefix caching hash algorithm"
	saysNothing = "its events have stopped: it tells of no block of the prompts that are routed there, which it did " +
		"not hold"
)

// misfit returns why a replica's events tell nothing of the prompts that are routed there; "" if they do.
func (f *Fabric) misfit(id index.HostID) string {
	switch {
	case f.feed.Misfits().Has(id):
		return otherBlocks
	case f.beliefs.Misfits().Has(id):
		return otherNames
	case f.beliefs.Hushed().Has(id):
		return saysNothing
	}
	return ""
}

// misfits returns the replicas whose events tell nothing of the prompts that are routed there. It logs those that were
// not among before.
func (f *Fabric) misfits(before index.HostBitmap) index.HostBitmap {
	all := f.feed.Misfits().Or(f.beliefs.Misfits()).Or(f.beliefs.Hushed())
	for id := range all.AndNot(before).All() {
		if r, ok := f.replicaAt(id); ok {
			f.log.Warn("a replica's cache events do not fit its prompts: it is scored by what is routed there",
				"replica", r.Name, "reason", f.misfit(id))
		}
	}
	return all
}
