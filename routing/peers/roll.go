package peers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"octet/routing/peers/peerspb"
)

// Roll is the other gateways that count, and what they hold. Not safe for concurrent use.
type Roll struct {
	name  string // of this gateway
	life  uint64
	peers map[string]*peer
	sums  map[uint64]Work // of all that count; without idle ones
	dirty map[uint64]bool // replicas whose sum has changed since Changes

	lost, refused uint64 // messages
}

type peer struct {
	life  uint64
	seq   uint64 // of its last message to all
	since time.Time
	heard time.Time
	lease time.Duration
	work  map[uint64]Work // without idle ones
	lost  uint64
}

// NewRoll returns the Roll of a life of the gateway of that name: what it told itself does not count.
func NewRoll(name string, life uint64) *Roll {
	return &Roll{name: name, life: life, peers: map[string]*peer{}, sums: map[uint64]Work{}, dirty: map[uint64]bool{}}
}

// Heard is what a message tells beside work.
type Heard struct {
	From  string
	Life  uint64
	Joins bool // it is the first of its life
	Left  bool // it is the last
	Fresh bool // it is none that has come before
	Body  *peerspb.Message
}

// Hear takes a message in. The error is ErrMessage, and nothing has changed then. Of this gateway's own nothing is
// taken, and Heard is the zero one.
func (r *Roll) Hear(text []byte, now time.Time) (Heard, error) {
	m, err := parse(text)
	if err != nil {
		r.refused++
		return Heard{}, err
	}
	if m.GetFrom() == r.name {
		return Heard{}, nil
	}
	p := r.peers[m.GetFrom()]
	h := Heard{From: m.GetFrom(), Life: m.GetLife(), Body: m}
	if m.GetLeaves() {
		if p == nil || p.life != m.GetLife() {
			return Heard{}, nil
		}
		r.forget(h.From)
		h.Left = true
		return h, nil
	}
	if p == nil || p.life != m.GetLife() {
		if p == nil && len(r.peers) >= MaxGateways {
			r.refused++
			return Heard{}, fmt.Errorf("%w: %d gateways count already", ErrMessage, MaxGateways)
		}
		r.forget(h.From)
		p = &peer{life: m.GetLife(), since: now, work: map[uint64]Work{}}
		r.peers[h.From], h.Joins = p, true
	}
	p.heard, p.lease = now, time.Duration(m.GetLeaseMs())*time.Millisecond
	h.Fresh = m.GetSeq() > p.seq
	r.take(p, m)
	return h, nil
}

// take takes the work of a message in, unless a later one of its sender's has come before it.
func (r *Roll) take(p *peer, m *peerspb.Message) {
	if m.GetSeq() == 0 || m.GetSeq() <= p.seq {
		return
	}
	if p.seq > 0 && m.GetSeq() > p.seq+1 {
		p.lost += m.GetSeq() - p.seq - 1
		r.lost += m.GetSeq() - p.seq - 1
	}
	p.seq = m.GetSeq()
	if m.GetWhole() {
		told := make(map[uint64]bool, len(m.GetWork()))
		for _, w := range m.GetWork() {
			told[w.GetReplica()] = true
		}
		for replica := range p.work {
			if !told[replica] {
				r.set(p, replica, Work{})
			}
		}
	}
	for _, w := range m.GetWork() {
		r.set(p, w.GetReplica(), fromWire(w))
	}
}

// set notes what a peer has at a replica.
func (r *Roll) set(p *peer, replica uint64, w Work) {
	before, had := p.work[replica]
	switch {
	case w.Idle() && !had, w == before:
		return
	case w.Idle():
		delete(p.work, replica)
	case !had && len(p.work) >= MaxReplicas:
		return
	default:
		p.work[replica] = w
	}
	r.dirty[replica] = true
}

// forget has a peer count no more.
func (r *Roll) forget(name string) {
	p := r.peers[name]
	if p == nil {
		return
	}
	for replica := range p.work {
		r.dirty[replica] = true
	}
	delete(r.peers, name)
}

// Expire forgets the gateways whose lease is over, and returns their names.
func (r *Roll) Expire(now time.Time) (gone []string) {
	for name, p := range r.peers {
		if now.Sub(p.heard) >= p.lease {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	for _, name := range gone {
		r.forget(name)
	}
	return gone
}

// Changes calls changed with the sum of each replica of which it has changed since the last call.
func (r *Roll) Changes(changed func(replica uint64, w Work)) {
	if len(r.dirty) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(r.peers)) // a mean depends on the order
	for replica := range r.dirty {
		var sum Work
		for _, name := range names {
			sum = sum.Add(r.peers[name].work[replica])
		}
		if sum.Idle() {
			delete(r.sums, replica)
		} else {
			r.sums[replica] = sum
		}
		changed(replica, sum)
	}
	clear(r.dirty)
}

// Beside returns what the others have at a replica, as of the last Changes.
func (r *Roll) Beside(replica uint64) Work { return r.sums[replica] }

// Peers returns how many gateways count, beside this one.
func (r *Roll) Peers() int { return len(r.peers) }

// Knows returns true if the gateway of that name counts.
func (r *Roll) Knows(name string) bool { return r.peers[name] != nil }

// Life returns the life of the gateway of that name; counts is false if it does not count.
func (r *Roll) Life(name string) (life uint64, counts bool) {
	p := r.peers[name]
	if p == nil {
		return 0, false
	}
	return p.life, true
}

// Peer is another gateway, as operators see it.
type Peer struct {
	Name  string
	Life  string
	Since time.Time     // it counts
	Age   time.Duration // of its last message
	Lease time.Duration
	Lost  uint64 // messages of its that did not come
	Work  map[uint64]Work
}

// List returns the gateways that count, by name.
func (r *Roll) List(now time.Time) []Peer {
	list := make([]Peer, 0, len(r.peers))
	for name, p := range r.peers {
		list = append(list, Peer{Name: name, Life: lifeName(p.life), Since: p.since, Age: now.Sub(p.heard),
			Lease: p.lease, Lost: p.lost, Work: maps.Clone(p.work)})
	}
	slices.SortFunc(list, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Counts returns how many messages did not come, and how many were refused.
func (r *Roll) Counts() (lost, refused uint64) { return r.lost, r.refused }
