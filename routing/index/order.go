package index

// Order is one replica's position in its own stream of batches. The zero Order has seen none.
type Order struct {
	Epoch uint64
	Last  uint64 // seq of the last batch; meaningful once one was seen
	Stale bool   // batches are missing
	Gaps  uint64 // times that batches were found missing

	started bool // an epoch has begun
	seen    bool // a batch of this epoch has been seen
}

// Admit returns what becomes of a batch, and whether everything held is from an older epoch and has to go first.
func (o *Order) Admit(b *Batch) (out Outcome, wipe bool) {
	epoch, seq := b.Epoch, b.Seq
	switch {
	case o.started && epoch < o.Epoch:
		return OldEpoch, false
	case !o.started || epoch > o.Epoch:
		wipe = o.started
		o.started, o.seen, o.Epoch, o.Stale = true, false, epoch, false
	case o.seen && seq <= o.Last:
		return Duplicate, false
	}
	if o.follows(seq) && !b.Lost {
		out = Applied
	} else {
		out = Gap
		o.Stale = true
		o.Gaps++
	}
	o.seen, o.Last = true, seq
	return out, wipe
}

// follows returns true if nothing can be missing between the last batch and seq.
func (o *Order) follows(seq uint64) bool {
	if !o.seen {
		return seq <= 1
	}
	return seq == o.Last+1
}

// Snapshot returns what becomes of a snapshot taken at (epoch, seq): one from before the last batch would lose that
// batch.
func (o *Order) Snapshot(epoch, seq uint64) Outcome {
	switch {
	case o.started && epoch < o.Epoch:
		return OldEpoch
	case o.started && epoch == o.Epoch && o.seen && seq < o.Last:
		return Duplicate
	}
	o.started, o.seen, o.Epoch, o.Last, o.Stale = true, true, epoch, seq, false
	return Applied
}
