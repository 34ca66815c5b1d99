package events

// MaxEarly is how many batches of one replica wait for one before them. More than that, and the one before is given up:
// a gap.
const MaxEarly = 64

// maxHeld is how many batches of a replica wait while it is asked what it holds. More, and it is not waited for.
const maxHeld = 1024

// sequence puts one replica's batches in order. It mirrors the index's own rules (a later epoch begins anew, what is at
// or below the last one is a repetition, a first number is 0 or 1) and adds patience: a batch that comes early waits
// while another transport may still bring the missing one, and there is room.
type sequence struct {
	started bool // epoch is meaningful
	seen    bool // last is meaningful
	hold    bool // nothing is applied: a snapshot is on its way
	emptied bool // the index knows of the epoch, though nothing of it was applied yet
	epoch   uint64
	last    uint64           // applied last, in this epoch
	early   map[uint64]early // by Seq, all above last; at most MaxEarly between calls
	budget  *budget          // what early is charged to
	hurry   bool             // there is no room to wait: all of early is applied, whatever is missing before it

	// the largest Seq of this epoch that each session has brought; only sessions that carry this replica
	reached   map[*session]uint64
	unordered bool // a session that promises no order carries it as well
}

// early is a batch that waits.
type early struct {
	Batch
	bytes int // charged for it; 0 while it is not said that it stays
}

// placing is where a batch stands.
type placing uint8

const (
	ahead    placing = iota // not seen before, of this epoch
	newest                  // the first one of a later epoch
	repeated                // seen before
	older                   // of an earlier epoch
)

// restart forgets everything but the sessions that carry the replica.
func (q *sequence) restart() {
	for _, b := range q.early {
		q.budget.give(b.bytes)
	}
	*q = sequence{reached: q.reached, unordered: q.unordered, budget: q.budget}
	for l := range q.reached {
		q.reached[l] = 0
	}
}

// place says where b stands, and notes that l brought it. With a later epoch everything of the earlier one is
// forgotten.
func (q *sequence) place(l *session, b Batch) placing {
	if q.started && b.Epoch < q.epoch {
		return older
	}
	out := ahead
	if !q.started || b.Epoch > q.epoch {
		q.restart()
		q.started, q.epoch = true, b.Epoch
		out = newest
	}
	q.note(l, b.Seq)
	if _, waits := q.early[b.Seq]; waits || q.seen && b.Seq <= q.last {
		return repeated
	}
	return out
}

func (q *sequence) note(l *session, seq uint64) {
	if l == nil {
		q.unordered = true
		return
	}
	if q.reached == nil {
		q.reached = map[*session]uint64{}
	}
	q.reached[l] = max(q.reached[l], seq)
}

// wait adds a batch that place did not turn down.
func (q *sequence) wait(b Batch) {
	if q.early == nil {
		q.early = map[uint64]early{}
	}
	q.early[b.Seq] = early{Batch: b}
}

// stay charges for a batch if it still waits. It reports false where there is no room for it: then next gives up what
// is missing, until nothing waits.
func (q *sequence) stay(seq uint64) bool {
	b, waits := q.early[seq]
	if !waits || b.bytes > 0 {
		return true
	}
	if b.bytes = weight(&b.Batch); !q.budget.take(b.bytes, anyPart) {
		q.hurry = true
		return false
	}
	q.early[seq] = b
	return true
}

// drop takes a batch out of those that wait.
func (q *sequence) drop(seq uint64) Batch {
	b := q.early[seq]
	q.budget.give(b.bytes)
	delete(q.early, seq)
	return b.Batch
}

// next takes out the waiting batch that is to be applied now, and says whether some before it were given up. There is
// none while the lowest one waits for what may still come.
func (q *sequence) next() (b Batch, gap, ok bool) {
	q.hurry = q.hurry && len(q.early) > 0
	if q.hold = q.hold && len(q.early) <= maxHeld && !q.hurry; q.hold || len(q.early) == 0 {
		return Batch{}, false, false
	}
	seq := q.lowest()
	gap = !q.follows(seq)
	if gap && !q.hurry && len(q.early) <= MaxEarly && q.mayCome(seq) {
		return Batch{}, false, false
	}
	q.seen, q.last = true, seq
	return q.drop(seq), gap, true
}

func (q *sequence) lowest() uint64 {
	first := true
	var low uint64
	for seq := range q.early {
		if first || seq < low {
			first, low = false, seq
		}
	}
	return low
}

func (q *sequence) follows(seq uint64) bool {
	if !q.seen {
		return seq <= 1
	}
	return seq == q.last+1
}

// mayCome reports whether what is missing before seq can still arrive: by a session that has not come so far yet.
func (q *sequence) mayCome(seq uint64) bool {
	if q.unordered {
		return true
	}
	for _, reached := range q.reached {
		if reached < seq {
			return true
		}
	}
	return false
}

// limbo reports whether an epoch has begun of which nothing could be applied yet, and the index was not told.
func (q *sequence) limbo() bool { return q.started && !q.seen && !q.emptied }

// jump takes over a state of the replica from elsewhere, after the batch seq of epoch. It reports false, and changes
// nothing, where something later was applied already.
func (q *sequence) jump(epoch, seq uint64) bool {
	if q.started && (epoch < q.epoch || epoch == q.epoch && q.seen && seq < q.last) {
		return false
	}
	if !q.started || epoch > q.epoch {
		q.restart()
	}
	q.started, q.seen, q.hold, q.emptied, q.epoch, q.last = true, true, false, false, epoch, seq
	for early := range q.early {
		if early <= seq {
			q.drop(early)
		}
	}
	return true
}

// leave removes a session.
func (q *sequence) leave(l *session) { delete(q.reached, l) }

// all returns the replicas of the moment.
func (f *Feed) all() []*replicaState {
	f.feedMu.RLock()
	defer f.feedMu.RUnlock()
	list := make([]*replicaState, 0, len(f.replicas))
	for _, s := range f.replicas {
		list = append(list, s)
	}
	return list
}
