package plugins

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// sessionsKept is how many sessions a Sessions remembers where nothing else is said.
const sessionsKept = 1 << 16

// Sessions remembers to which replica each session went last, for as many sessions as it was made for; the longest
// unused one goes first. Safe for concurrent use. It may outlive the profiles that use it.
type Sessions struct{ last *lru.Cache[uint64, seat] }

// seat is a replica in its slot. It is void once another replica has the slot.
type seat struct {
	host    index.HostID
	replica uint64 // its Key
}

// NewSessions returns an empty one for keep sessions; 0 is 65,536.
func NewSessions(keep int) *Sessions {
	if keep <= 0 {
		keep = sessionsKept
	}
	cache, err := lru.New[uint64, seat](keep)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return &Sessions{cache}
}

// find returns the session's replica among those of s.
func (t *Sessions) find(v routing.View, s *fleet.Snapshot) (index.HostID, bool) {
	key := Session.Get(v)
	if key == 0 {
		return 0, false
	}
	lookUp := t.last.Get
	if v.Facts().Dry {
		lookUp = t.last.Peek
	}
	at, ok := lookUp(inSpecialist(key, s))
	if !ok {
		return 0, false
	}
	r := s.Replica(at.host)
	return at.host, r != nil && r.Key() == at.replica
}

// note remembers where the session went.
func (t *Sessions) note(v routing.View, s *fleet.Snapshot, h index.HostID) {
	if key, r := Session.Get(v), s.Replica(h); key != 0 && r != nil {
		t.last.Add(inSpecialist(key, s), seat{h, r.Key()})
	}
}

// inSpecialist keeps the sessions of several specialists apart.
func inSpecialist(key uint64, s *fleet.Snapshot) uint64 { return keyOf(key, s.Key()) }
