package peers

import (
	"time"

	"google.golang.org/protobuf/proto"

	"octet/routing/peers/peerspb"
)

// Teller makes the messages of one gateway to all others. Not safe for concurrent use.
type Teller struct {
	name  string
	life  uint64
	lease time.Duration

	seq   uint64
	told  map[uint64]Work // without idle ones
	work  []byte          // of the message that is made
	next  time.Time       // of the next whole message
	begun bool
}

// NewTeller returns the Teller of a life of the gateway of that name. Named must hold of it.
func NewTeller(name string, life uint64, lease time.Duration) *Teller {
	return &Teller{name: name, life: life, lease: lease, told: map[uint64]Work{}}
}

// beatsALease is how often all is told within a lease: two of them may be lost.
const beatsALease = 3

// Due returns true if Tell would make a message even if nothing had changed.
func (t *Teller) Due(now time.Time) bool { return !t.begun || !now.Before(t.next) }

// Again has the next message be whole: there is a gateway that has heard none.
func (t *Teller) Again() { t.begun = false }

// Tell returns the message that tells what of work has changed since the last one, or all of it where it is due; nil if
// there is nothing to tell. news is what else it tells; nil for nothing. work is read during the call only.
func (t *Teller) Tell(work map[uint64]Work, news *peerspb.Message, now time.Time) []byte {
	m := news
	if m == nil {
		m = new(peerspb.Message)
	}
	if t.Due(now) {
		t.begun, t.next, m.Whole = true, now.Add(t.lease/beatsALease), true
		clear(t.told)
	}
	t.work = t.work[:0]
	for replica, w := range work {
		if told := t.told[replica]; w.differs(told) && !(w.Idle() && told.Idle()) {
			t.work = appendWork(t.work, replica, w)
			t.note(replica, w)
		}
	}
	for replica := range t.told {
		if _, still := work[replica]; !still {
			t.work = appendWork(t.work, replica, Work{})
			delete(t.told, replica)
		}
	}
	if news == nil && !m.Whole && len(t.work) == 0 {
		return nil
	}
	t.seq++
	m.Seq = t.seq
	return append(t.seal(m), t.work...)
}

// differs returns true if w is news where told was told last. What is left of a prompt shrinks all the time that it is
// computed: an eighth is news.
func (w Work) differs(told Work) bool {
	const grain = 8
	if diff := w.Left - told.Left; diff*grain < told.Left && -diff*grain < told.Left {
		w.Left = told.Left
	}
	return w != told
}

func (t *Teller) note(replica uint64, w Work) {
	if w.Idle() {
		delete(t.told, replica)
		return
	}
	t.told[replica] = w
}

// Leave returns the last message of this life.
func (t *Teller) Leave() []byte {
	t.seq++
	return t.seal(&peerspb.Message{Seq: t.seq, Leaves: true})
}

// One returns a message to one gateway.
func (t *Teller) One(m *peerspb.Message) []byte { return t.seal(m) }

func (t *Teller) seal(m *peerspb.Message) []byte {
	m.Version, m.From, m.Life, m.LeaseMs = Version, t.name, t.life, count32(int(t.lease.Milliseconds()))
	text, err := proto.Marshal(m)
	if err != nil {
		panic(err) // only what is no UTF-8 cannot be written: names are checked before
	}
	return text
}
