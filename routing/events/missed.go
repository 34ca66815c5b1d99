package events

import (
	"slices"
	"time"

	"octet/routing/index"
)

// missed is what is known of the batches of a replica's present life that were lost for good, or came before the
// gateway. Then a part of what the engine holds is unknown. The zero missed says that no batch is missing.
type missed struct {
	since time.Time // when that was found, the last time; zero if no batch is missing
	seq   uint64    // of the first batch after them
	first bool      // nothing of the life had been applied before
	later bool      // the life began with an empty cache
}

// begin begins a life with its first batch to come. anew is true if nothing was known of the replica: the index may
// hold what a state that is gone has told it.
func (s *replicaState) begin(anew bool, b *Batch) {
	s.missed = missed{later: !anew && !b.Unsure}
	if b.Unsure && !anew {
		s.held.forget(false)
		return
	}
	s.held.wipe()
}

// miss notes that batches before b are lost, or b itself. What was known before may have been evicted since, so nothing
// is claimed but what is registered from b on. Names stay: what a block is called depends on what it holds. within is
// true if something of this life was applied before.
func (s *replicaState) miss(b *Batch, within bool, now time.Time) {
	s.missed.since, s.missed.seq, s.missed.first = now, b.Seq, !within
	if b.Lost {
		s.missed.seq++
	}
	if within || !s.missed.later {
		s.held.forget(true)
	}
}

// recover ends the doubt once as many blocks of unknown content have been evicted as the engine's cache can hold: none
// is left from before. It is called within a list of changes.
func (s *replicaState) recover() {
	if pool := s.target.Pool; pool > 0 && !s.missed.since.IsZero() && s.held.unknown >= uint64(pool) {
		s.held.add(index.Fresh, 0)
		s.missed.since = time.Time{}
	}
}

func empties(k Kind) bool { return k == Cleared || k == Shutdown }

// forget drops all that is known of copies, and what is of no use without: blocks of unknown content. The blocks of
// ours that are held until now are told to the index as doubtful, chains from their beginnings. Names are kept on
// request. It costs as much as what came since it was called last.
func (m *mapping) forget(names bool) {
	doubts, old, order := m.doubts, m.names, m.order
	m.each(func(hash uint64, b *block) {
		if b.chain == nil || b.doubt {
			return
		}
		if !b.gone() {
			doubts = append(doubts, b.chain[1:]...)
		}
		if names {
			if old == nil {
				old = map[uint64]content{}
			}
			old[hash] = b.content
			order = append(order, hash)
		}
	})
	odd, alien := m.odd, m.alien
	m.wipe()
	m.doubts, m.forgets, m.odd, m.alien = doubts, true, odd, alien
	if names {
		m.names, m.order = old, order
		m.compact()
	}
}

// compact drops from order what names do not have any more, and what is there twice, once that is more than the rest.
func (m *mapping) compact() {
	if len(m.order) <= 2*len(m.names)+keepDeparted {
		return
	}
	seen := make(map[uint64]bool, len(m.names))
	m.order = slices.DeleteFunc(m.order, func(hash uint64) bool {
		_, ok := m.names[hash]
		drop := !ok || seen[hash]
		seen[hash] = true
		return drop
	})
}

// called returns what an engine block holds by its name, if that is known.
func (m *mapping) called(hash uint64) content {
	if b, ok := m.blocks[hash]; ok {
		return b.content
	}
	return m.names[hash]
}

// bury forgets the block that departed longest ago, unless it is back; if none has departed, the oldest name.
func (m *mapping) bury() {
	if len(m.departed) == 0 {
		delete(m.names, m.order[0])
		m.order = m.order[1:]
		return
	}
	hash := m.departed[0]
	m.departed = m.departed[1:]
	if b, ok := m.blocks[hash]; ok && b.gone() {
		m.remove(hash)
	}
}

// letGo gives back the memory of what was told as doubtful.
func (m *mapping) letGo() {
	if len(m.ops) > 0 && m.ops[0].Kind == index.Forget {
		m.ops[0].Blocks = nil
	}
}

// Unknown is what a replica's events leave open.
type Unknown struct {
	Since     time.Time `json:"since"`     // when batches were found missing, the last time
	Seq       uint64    `json:"from_seq"`  // of the first batch after them
	Joined    bool      `json:"joined"`    // the engine had published before the gateway listened
	Orphans   int       `json:"orphans"`   // blocks that were registered since, behind blocks that are not known
	Evictions uint64    `json:"evictions"` // from the GPU since, of blocks that are not known
}

// Unknown returns what a replica's events leave open; false if no batch of its life is missing.
func (f *Feed) Unknown(replica string) (Unknown, bool) {
	s := f.known(replica)
	if s == nil {
		return Unknown{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.missed
	return Unknown{m.since, m.seq, m.first, s.held.orphans, s.held.unknown}, !m.since.IsZero()
}
