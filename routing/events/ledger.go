package events

import (
	"unsafe"

	"octet/routing/index"
)

const (
	replicaPart = 8 // a replica takes at most an eighth of what may wait
	anyPart     = 1 // batches may take all of that
	orphansPart = 2 // and blocks of unknown content half, so that they leave room for batches

	batchBytes  = 256 // of a batch by itself, with its place in a map
	eventBytes  = int(unsafe.Sizeof(Event{})) + 40
	orphanBytes = 150 // of a block of unknown content in a mapping
)

// Within has the feed take what waits from a, the account of its index. It is called before anything is delivered.
func (f *Feed) Within(a *index.Account) { f.account = a }

// SnapshotRoom bounds what of a snapshot is in memory while Load reads it, in bytes: index.DefaultMaxBytes unless it is
// called, which is before Load.
func (f *Feed) SnapshotRoom(bytes int64) { f.room = bytes }

// budget is what one replica's waiting batches and orphans have taken from the account. A nil budget has no bounds.
// Guarded by its replicaState's mu.
type budget struct {
	account *index.Account
	taken   int64
}

// take charges n bytes. It reports false, and charges nothing, where the replica or all together have no room for them;
// part is which part of the room there is for what they are for.
func (p *budget) take(n int, part int64) bool {
	if p == nil {
		return true
	}
	if p.taken+int64(n) > p.account.Share()/replicaPart/part || !p.account.Wait(int64(n), part) {
		return false
	}
	p.taken += int64(n)
	return true
}

// give gives n bytes back.
func (p *budget) give(n int) {
	if p == nil || n == 0 {
		return
	}
	p.taken -= int64(n)
	p.account.Release(int64(n))
}

// empty gives everything back. Nothing of the replica is used any more.
func (p *budget) empty() { p.give(int(p.taken)) }

// weight is about what a batch takes in memory, and no less than what sumOf writes of it.
func weight(b *Batch) (bytes int) {
	bytes = batchBytes + len(b.Replica) + len(b.By.Name) + cap(b.Events)*eventBytes
	for i := range b.Events {
		e := &b.Events[i]
		bytes += 8*cap(e.Hashes) + 4*cap(e.Tokens) + len(e.Adapter) + len(e.Salt)
	}
	return bytes
}

// adopt makes room for one more orphan.
func (m *mapping) adopt() bool {
	if !m.budget.take(orphanBytes, orphansPart) {
		return false
	}
	m.orphans++
	return true
}

// release gives back what an orphan has taken, if there was one.
func (m *mapping) release(orphan bool) {
	if orphan {
		m.orphans--
		m.budget.give(orphanBytes)
	}
}

// newReplica returns the state of a replica without events.
func newReplica(f *Feed) *replicaState {
	s := &replicaState{budget: budget{account: f.account}}
	s.held = newMapping(f.limit, &f.tally, &s.budget)
	s.order.budget, s.lease.budget = &s.budget, &s.budget
	return s
}

// disown ends what is known of a replica in the middle of a change that panicked: nothing of it can be relied on. The
// next batch begins anew, and is a gap, so the replica is stale until it is made whole.
func (s locked) disown(replica string) {
	s.gone = true
	s.budget.empty()
	s.feedMu.Lock()
	defer s.feedMu.Unlock()
	if s.replicas[replica] == s.replicaState {
		delete(s.replicas, replica)
	}
}
