package events

import (
	"fmt"
	"sync"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// Applier is what a Feed writes to: the index. It keeps nothing of what it is given and does not call back.
type Applier interface {
	Apply(b index.Batch) index.Outcome
	Resync(id index.HostID, epoch, seq uint64, held []index.TierBlocks) index.Outcome
	Stale() index.HostBitmap
}

// Target is where a replica's blocks go.
type Target struct {
	Host       index.HostID
	Specialist string
	BlockSize  int // tokens a block of the index, for this specialist

	// Source names the only source that may speak for the replica; "": any may. See Feed.From.
	Source string

	// Patience is how long the holders of the replica's lease may be silent before another publisher gets it: see
	// Speaker. Zero means that every publisher's batches count.
	Patience time.Duration

	// Scheme is how the engine hashes by its configuration; nil if unknown. Hashes of events with tokens are compared,
	// and those that differ are counted.
	Scheme Scheme

	// Pool is how many blocks the engine's GPU cache has; 0 if that is not known.
	Pool int

	// Salts: prompts of some tenants are kept apart by a salt. An event that cannot carry one may be of any tenant.
	Salts bool

	// Named: prompts of the specialist are hashed as Scheme does, so that the engine's hash of a block says what it
	// holds.
	Named bool
}

// same reports whether what is known of a replica's blocks for t is what is to be known of them for to.
func (t Target) same(to Target) bool {
	if t.Host != to.Host || t.Specialist != to.Specialist || t.BlockSize != to.BlockSize || t.Named != to.Named {
		return false
	}
	return !t.Named || t.Scheme == to.Scheme
}

// keys says what the hashes of the blocks are made of.
func (t Target) keys() string {
	if !t.Named {
		return t.Specialist
	}
	return fmt.Sprintf("%s as %v", t.Specialist, t.Scheme)
}

// Scheme computes an engine's own hashes of the full blocks of a prompt. It must be comparable, and no two of them have
// the same String.
type Scheme interface {
	String() string
	Chain(tokens []uint32, blockSize int, adapter, salt string) ([]uint64, error)
}

// Feed turns what replicas publish into what the index holds. It is a Sink for all transports together and puts each
// replica's batches into one order, whichever transport brings them first.
//
// Lock order: a replicaState's mu, then feedMu.
type Feed struct {
	index   Applier
	hasher  kvpool.Hasher
	resolve func(replica string) (Target, bool)
	now     func() time.Time
	limit   int   // engine blocks a replica
	room    int64 // bytes of a snapshot while it is read
	account *index.Account
	tally   tally
	lives   Lives // may be nil

	feedMu   sync.RWMutex
	replicas map[string]*replicaState // guarded by feedMu
}

// replicaState is what the feed knows of one replica.
type replicaState struct {
	mu     sync.Mutex
	gone   bool // forgotten: after a wait for mu the state is looked up again
	target Target
	order  sequence
	held   mapping
	lease  sourceLease
	budget budget // of order, held and lease
	mark   uint64 // of the batch applied last
	end    end    // that was announced last

	refused uint64 // events of batches applied that were left out
	missed  missed // batches, in this life
}

// locked is one replica's state while its lock is held.
type locked struct {
	*Feed
	*replicaState
}

// NewFeed returns a Feed that writes to x. resolve says where a replica's blocks go, or that no such replica is known;
// it is called under a lock of the feed, for every batch, and must not call the feed. A replica that moves to another
// slot begins anew there. What waits is taken from an account of its own, as large as an index is by default; see
// Within.
func NewFeed(x Applier, hasher kvpool.Hasher, resolve func(replica string) (Target, bool)) *Feed {
	return &Feed{
		index: x, hasher: hasher, resolve: resolve, now: time.Now, limit: MaxBlocks, room: index.DefaultMaxBytes,
		account: index.NewAccount(index.DefaultMaxBytes), replicas: map[string]*replicaState{},
	}
}

// Deliver implements Sink for callers without an order of batches: several transports at once, for instance. Events
// that cannot be applied are left out and counted, see Sift; a batch that does not pass Check is dropped. One that
// comes early is held back until those before it have come, or until MaxEarly of them wait or there is no room for it.
// A transport that keeps the order opens a session instead, so that a gap shows at once.
func (f *Feed) Deliver(b Batch) { f.deliver(nil, "", b) }

// Open implements Merger.
func (f *Feed) Open() Carrier { return &session{feed: f} }

// known returns the state of a replica that has had events, else nil.
func (f *Feed) known(replica string) *replicaState {
	f.feedMu.RLock()
	defer f.feedMu.RUnlock()
	return f.replicas[replica]
}

// Forget is called after resolve stopped to know replica, or moved it. When it returns, nothing more reaches the slot
// where the replica was, which can be retired. A replica that resolve still knows at the same place is left alone.
func (f *Feed) Forget(replica string) {
	s := f.known(replica)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if to, ok := f.resolve(replica); s.gone || ok && to.same(s.target) {
		return
	}
	s.gone = true
	s.held.wipe()
	s.budget.empty()
	f.feedMu.Lock()
	defer f.feedMu.Unlock()
	delete(f.replicas, replica)
}

func (f *Feed) deliver(l *session, source string, b Batch) {
	f.tally.batches.Add(1)
	if b.Sift(); b.Check() != nil {
		f.tally.invalid.Add(1)
		return
	}
	for {
		s := f.stateOf(b.Replica)
		if s == nil {
			f.tally.unknown.Add(1)
			return
		}
		if f.put(s, l, source, b) {
			return
		}
	}
}

// stateOf returns the replica's state; nil when the replica is not known, so that strangers' names take no memory.
func (f *Feed) stateOf(replica string) *replicaState {
	s := f.known(replica)
	if s != nil {
		return s
	}
	if _, ok := f.resolve(replica); !ok {
		return nil
	}
	f.feedMu.Lock()
	defer f.feedMu.Unlock()
	if s = f.replicas[replica]; s == nil {
		s = newReplica(f)
		f.replicas[replica] = s
	}
	return s
}

// put takes b in order and applies what is ready. It reports false when s was forgotten meanwhile.
func (f *Feed) put(s *replicaState, l *session, source string, b Batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := false
	defer func() {
		if !whole {
			locked{f, s}.disown(b.Replica)
		}
	}()
	ok := locked{f, s}.take(l, source, b)
	whole = true
	return ok
}

// take is put under s.mu.
func (s locked) take(l *session, source string, b Batch) bool {
	if s.gone {
		return false
	}
	target, ok := s.resolve(b.Replica)
	if !ok {
		s.tally.unknown.Add(1)
		return true
	}
	if target.Source != "" && target.Source != source {
		s.tally.foreign.Add(1)
		return true
	}
	s.move(target)
	if s.authorize(l, source, &b) {
		s.admit(l, b)
	}
	return true
}

// move begins anew where the replica's place is another one now. Under s.mu.
func (s *replicaState) move(to Target) {
	anew := !to.same(s.target)
	s.target = to
	if !anew {
		return
	}
	s.mark, s.missed = 0, missed{}
	s.lease.restart()
	s.order.restart()
	s.held.wipe()
}

// admit applies b, holds it back or drops it.
func (s locked) admit(l *session, b Batch) {
	anew := !s.order.started
	switch s.order.place(l, b) {
	case older:
		s.tally.oldEpochs.Add(1)
		return
	case repeated:
		s.tally.duplicates.Add(1) // and yet it tells how far its session has come
	case newest:
		s.noteLife(&b)
		s.begin(anew, &b)
		s.order.wait(b)
	case ahead:
		s.order.wait(b)
	}
	s.drain()
	if !s.order.stay(b.Seq) {
		s.tally.crowded.Add(1)
		s.drain()
	}
	if s.order.limbo() {
		// The replica has started anew, and what it holds now is not known yet. What it held is gone.
		s.held.begin()
		s.index.Apply(index.Batch{Host: s.target.Host, Epoch: b.Epoch, Ops: s.held.ops})
		s.held.letGo()
		s.order.emptied = true
	}
}
