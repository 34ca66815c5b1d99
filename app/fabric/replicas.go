package fabric

import (
	"time"

	"octet/config"
	"octet/routing/events"
	"octet/routing/events/enginehash"
	"octet/routing/index"
)

// The index has a slot for each replica that a configuration can have: MOD2-27 in either build.
var _ [index.MaxHosts - config.MaxReplicas]struct{} = [0]struct{}{}

// Replica is one replica as the fabric knows it.
type Replica struct {
	Name, Specialist string
	URL, APIKey      string
	Rank             *int   // which of its engine's data-parallel ranks it is; nil if it is the whole engine
	RankHeader       string // by which the engine is asked for it; empty if it has none
	Host             index.HostID
	Blocks           int                   // of its pool; 0 if not known
	BlockSize        int                   // tokens
	Events           *config.ReplicaEvents // nil if it has no source of its own
	Hashes           Hashes                // by which its engine names blocks; zero if not known
	Named            bool                  // its specialist's prompts are hashed by an engine's scheme
	TellsSalt        bool                  // its engine's events tell by which salt blocks are kept apart
}

// Generation is the part of a configuration that decides about replicas' events.
type Generation struct {
	Replicas map[string]Replica // by name
	GuessFor time.Duration      // a routed prompt counts for so long at a replica that publishes no events
	BindFor  time.Duration      // a source that has fallen silent stays the only one for so long
	Salts    bool               // prompts of some tenant are kept apart from others'

	TrustFor     time.Duration // what sources told counts for so long after all of a replica's are lost
	ExcludeAfter time.Duration // a replica whose own socket is lost for so long is told to Lives; 0 is never
}

// Free returns how many times Admit would succeed now.
func (f *Fabric) Free() (n int) {
	var present index.HostBitmap
	for _, r := range *f.present.Load() {
		present.Set(r.Host)
	}
	for host := range index.HostID(index.MaxHosts) {
		if !present.Has(host) && !f.index.Alive().Has(host) && f.index.Reusable(host) {
			n++
		}
	}
	return n
}

// Admit takes a free slot of the index. One call at a time.
func (f *Fabric) Admit() (index.HostID, error) {
	for host := range index.HostID(index.MaxHosts) {
		if _, present := f.replicaAt(host); present { // it may have shut down, and returns there
			continue
		}
		if !f.index.Alive().Has(host) && f.index.Reusable(host) {
			return host, f.index.Admit(host)
		}
	}
	return 0, ErrFull
}

// Commit puts a generation in force. One call at a time.
func (f *Fabric) Commit(g Generation) {
	before := *f.present.Load()
	f.beliefs.Doubt(saltless(g))
	targets := make(map[string]events.Target, len(g.Replicas))
	for name, r := range g.Replicas {
		targets[name] = f.targetOf(g, r)
		if old, ok := before[name]; !ok || old.Host != r.Host {
			f.beliefs.Begin(r.Host, g.GuessFor, r.Blocks)
		}
	}
	f.sockets.close(g.Replicas) // before anything of theirs could reach another slot
	f.waits.Store(&waits{g.TrustFor, g.ExcludeAfter})
	f.present.Store(&g.Replicas)
	f.targets.Store(&targets)
	f.sockets.follow(g.Replicas)
}

// Release gives back a slot that no generation has used.
func (f *Fabric) Release(host index.HostID) { f.index.Retire(host) }

// Retire frees the slot of a replica that has left: at once for queries, in the background for memory.
func (f *Fabric) Retire(replica string, host index.HostID) {
	f.feed.Forget(replica)
	f.index.Retire(host)
}

// Scheme returns the hash scheme of that name and seed, always the same one, so that replicas keep theirs over a
// reload; nil for the zero Hashes. One call at a time.
func (f *Fabric) Scheme(h Hashes) *enginehash.Scheme { return f.schemes.of(h) }

// targetOf says which slot a replica's blocks go to, which source may tell of them, and what they are called.
func (f *Fabric) targetOf(g Generation, r Replica) events.Target {
	to := events.Target{Host: r.Host, Specialist: r.Specialist, BlockSize: r.BlockSize,
		Pool: r.Blocks, Source: sourceOf(r.Name, r.Events), Salts: g.Salts}
	if r.Events == nil || r.Events.Source != "any" {
		to.Patience = g.BindFor
	}
	if scheme := f.schemes.of(r.Hashes); scheme != nil {
		to.Scheme, to.Named = scheme, r.Named
	}
	return to
}

// saltless returns the replicas whose engines know no salts, while some prompts have one: the blocks that their events
// tell of could be any tenant's, so no prompt is held against them.
func saltless(g Generation) (all index.HostBitmap) {
	if !g.Salts {
		return all
	}
	for _, r := range g.Replicas {
		if !r.TellsSalt {
			all.Set(r.Host)
		}
	}
	return all
}

// replicaAt returns the replica of a slot; false if it has none.
func (f *Fabric) replicaAt(host index.HostID) (Replica, bool) {
	for _, r := range *f.present.Load() {
		if r.Host == host {
			return r, true
		}
	}
	return Replica{}, false
}
