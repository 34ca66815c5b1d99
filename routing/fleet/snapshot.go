package fleet

import (
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"octet/routing/index"
)

// Snapshot is some replicas of one specialist: what the requests of one configuration may see. Its membership is
// immutable; health, draining, withdrawal and breakers are read as they are at the time of the call. A replica that has
// left the Fleet stays in it, in the state in which it left, even if its slot is another replica's by now.
type Snapshot struct {
	Hosts index.HostBitmap

	states    *states
	whole     atomic.Uint64 // departures of the Fleet of which none was a member
	replicas  [index.MaxHosts]*Replica
	prefill   index.HostBitmap // can prefill
	decode    index.HostBitmap // can decode
	both      index.HostBitmap // can do either
	handed    index.HostBitmap // answer nothing that no other has computed
	prepares  index.HostBitmap // can make tokens of prompts for others
	events    index.HostBitmap // publish cache events
	blockSize int              // tokens, of the first replica
	key       uint64
}

// NewSnapshot returns the snapshot of replicas of one specialist and one Fleet, no two in one slot.
func NewSnapshot(members ...*Replica) *Snapshot {
	if len(members) == 0 {
		return &Snapshot{states: new(states)}
	}
	first := members[0]
	s := &Snapshot{states: first.states, blockSize: first.spec.BlockSize, key: xxh3.HashString(first.spec.Specialist)}
	for _, r := range members {
		s.add(r)
	}
	return s
}

// Replica returns the replica at h, nil when h is not in Hosts.
func (s *Snapshot) Replica(h index.HostID) *Replica { return s.replicas[h] }

// Len returns the number of replicas.
func (s *Snapshot) Len() int { return s.Hosts.Count() }

// Departed returns the replicas that have left the Fleet. What is known by their slots is of others: it must be looked
// up before Departed is asked, and left aside for these. None of a nil Snapshot.
func (s *Snapshot) Departed() (gone index.HostBitmap) {
	if s == nil {
		return gone
	}
	departures := s.states.departures.Load()
	if departures == s.whole.Load() {
		return gone
	}
	for h := range s.Hosts.All() {
		if s.replicas[h].Departed() {
			gone.Set(h)
		}
	}
	if gone.Empty() {
		s.whole.Store(departures)
	}
	return gone
}

// Available returns the replicas that are healthy, not draining and not withdrawn.
func (s *Snapshot) Available() index.HostBitmap {
	now := s.Hosts
	if st := s.states; !st.down.Empty() || !st.draining.Empty() || !st.withdrawn.Empty() {
		now = now.AndNot(st.down.Load()).AndNot(st.draining.Load()).AndNot(st.withdrawn.Load())
	}
	gone := s.Departed()
	for h := range gone.All() {
		if now.Clear(h); s.replicas[h].Available() {
			now.Set(h)
		}
	}
	return now
}

// KeepAvailable removes from hosts all that are not in Available, and returns true if there were any.
func (s *Snapshot) KeepAvailable(hosts *index.HostBitmap) bool {
	now := s.Available()
	return hosts.Keep(&now)
}

// NoneTripped returns true if all breakers of the whole fleet are closed: then Tripped is empty.
func (s *Snapshot) NoneTripped() bool { return s.states.tripped.Empty() }

// Tripped returns the replicas whose breaker is not closed. That of a replica that has left is asked by Take alone.
func (s *Snapshot) Tripped() (none index.HostBitmap) {
	if s.states.tripped.Empty() {
		return none
	}
	return s.Hosts.And(s.states.tripped.Load()).AndNot(s.Departed())
}

// Prefill returns the replicas that can prefill.
func (s *Snapshot) Prefill() index.HostBitmap { return s.prefill }

// Decode returns the replicas that can decode.
func (s *Snapshot) Decode() index.HostBitmap { return s.decode }

// OnlyHanded returns the replicas that answer no prompt but those that another has computed for them.
func (s *Snapshot) OnlyHanded() index.HostBitmap { return s.handed }

// Both returns the replicas that can prefill and decode.
func (s *Snapshot) Both() index.HostBitmap { return s.both }

// Preprocess returns the replicas that make tokens of prompts for others.
func (s *Snapshot) Preprocess() index.HostBitmap { return s.prepares }

// Events returns the replicas that publish their cache events.
func (s *Snapshot) Events() index.HostBitmap { return s.events }

// Key returns a hash of the specialist's name; 0 when there is no replica.
func (s *Snapshot) Key() uint64 { return s.key }

// BlockSize returns the specialist's block size in tokens; 0 when there is no replica.
func (s *Snapshot) BlockSize() int { return s.blockSize }

// add is for a Snapshot that is being made.
func (s *Snapshot) add(r *Replica) {
	h := r.spec.Host
	s.Hosts.Set(h)
	s.replicas[h] = r
	both := r.spec.Role == RoleBoth || r.spec.Role == ""
	if both || r.spec.Role == RolePrefill {
		s.prefill.Set(h)
	}
	if both || r.spec.Role == RoleDecode {
		s.decode.Set(h)
	}
	if both || r.spec.Role == RolePreprocess {
		s.prepares.Set(h)
	}
	s.both = s.prefill.And(s.decode)
	if r.spec.HasEvents {
		s.events.Set(h)
	}
	if r.spec.OnlyHanded {
		s.handed.Set(h)
	}
}
