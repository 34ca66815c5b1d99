package peers

import (
	"fmt"
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
	sums  map[uint64]*total // of all that count; those that have changed may be empty
	dirty []uint64          // replicas whose total has changed since Changes, each once
	told  []told            // of the message that is heard

	lost, refused uint64 // messages
}

type peer struct {
	life  uint64
	seq   uint64 // of its last message to all
	since time.Time
	heard time.Time
	lease time.Duration
	work  map[uint64]*part // without idle ones
	lost  uint64
}

// NewRoll returns the Roll of a life of the gateway of that name: what it told itself does not count.
func NewRoll(name string, life uint64) *Roll {
	return &Roll{name: name, life: life, peers: map[string]*peer{}, sums: map[uint64]*total{}}
}

// Heard is what a message tells beside work.
type Heard struct {
	From  string
	Life  uint64
	Joins bool             // it is the first of its life
	Left  bool             // it is the last
	Fresh bool             // it is none that has come before
	Body  *peerspb.Message // without its work
}

// Hear takes a message in. The error is ErrMessage, and nothing has changed then. Of this gateway's own nothing is
// taken, and Heard is the zero one.
func (r *Roll) Hear(text []byte, now time.Time) (Heard, error) {
	m, told, err := parse(text, r.told[:0])
	r.told = told
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
		p = &peer{life: m.GetLife(), since: now, work: map[uint64]*part{}}
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
		r.keep(p)
	}
	for i := range r.told {
		r.set(p, r.told[i].replica, &r.told[i].work)
	}
}

// keep forgets what a peer has at replicas that its message does not tell of.
func (r *Roll) keep(p *peer) {
	named := make(map[uint64]bool, len(r.told))
	for i := range r.told {
		named[r.told[i].replica] = true
	}
	for replica := range p.work {
		if !named[replica] {
			r.set(p, replica, new(Work))
		}
	}
}

// set notes what a peer has at a replica.
func (r *Roll) set(p *peer, replica uint64, w *Work) {
	before, idle := p.work[replica], w.Idle()
	switch {
	case before == nil && (idle || len(p.work) >= MaxReplicas):
		return
	case before == nil:
		before = new(part)
		r.total(replica).add(before)
		p.work[replica] = before
	case before.work == *w:
		return
	case idle:
		before.of.remove(before)
		delete(p.work, replica)
	}
	before.work = *w
	r.change(replica, before.of)
}

// total returns a replica's.
func (r *Roll) total(replica uint64) *total {
	t := r.sums[replica]
	if t == nil {
		t = new(total)
		r.sums[replica] = t
	}
	return t
}

// change notes that a replica's total has changed.
func (r *Roll) change(replica uint64, t *total) {
	if !t.changed {
		t.changed = true
		r.dirty = append(r.dirty, replica)
	}
}

// forget has a peer count no more.
func (r *Roll) forget(name string) {
	p := r.peers[name]
	if p == nil {
		return
	}
	for replica, part := range p.work {
		part.of.remove(part)
		r.change(replica, part.of)
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

// Changed returns of how many replicas Changes would tell.
func (r *Roll) Changed() int { return len(r.dirty) }

// Changes calls changed with the sum of each replica of which it has changed since the last call.
func (r *Roll) Changes(changed func(replica uint64, w Work)) {
	for _, replica := range r.dirty {
		t := r.sums[replica]
		t.addUp()
		t.changed = false
		if len(t.parts) == 0 {
			delete(r.sums, replica)
		}
		changed(replica, t.sum)
	}
	r.dirty = r.dirty[:0]
}

// Beside returns what the others have at a replica, as of the last Changes.
func (r *Roll) Beside(replica uint64) Work {
	if t := r.sums[replica]; t != nil {
		return t.sum
	}
	return Work{}
}

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
			Lease: p.lease, Lost: p.lost, Work: p.works()})
	}
	slices.SortFunc(list, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// works returns what it has at each replica.
func (p *peer) works() map[uint64]Work {
	all := make(map[uint64]Work, len(p.work))
	for replica, part := range p.work {
		all[replica] = part.work
	}
	return all
}

// Counts returns how many messages did not come, and how many were refused.
func (r *Roll) Counts() (lost, refused uint64) { return r.lost, r.refused }
