package index

// order is one replica's place in its own stream of batches.
type order struct {
	started bool // an epoch has begun
	seen    bool // a batch of this epoch has been seen; last is meaningful
	epoch   uint64
	last    uint64
	stale   bool
	gaps    uint64
}

// admit says what becomes of a batch, and whether everything held is from an older epoch and has to go first.
func (o *order) admit(epoch, seq uint64) (out Outcome, wipe bool) {
	switch {
	case o.started && epoch < o.epoch:
		return OldEpoch, false
	case !o.started || epoch > o.epoch:
		wipe = o.started
		o.started, o.seen, o.epoch, o.stale = true, false, epoch, false
	case o.seen && seq <= o.last:
		return Duplicate, false
	}
	if o.follows(seq) {
		out = Applied
	} else {
		out = Gap
		o.stale = true
		o.gaps++
	}
	o.seen, o.last = true, seq
	return out, wipe
}

// follows reports whether nothing can be missing between the last batch and seq.
func (o *order) follows(seq uint64) bool {
	if !o.seen {
		return seq <= 1
	}
	return seq == o.last+1
}

// snapshot says what becomes of a snapshot taken at (epoch, seq): one from before the last batch would lose that batch.
func (o *order) snapshot(epoch, seq uint64) Outcome {
	switch {
	case o.started && epoch < o.epoch:
		return OldEpoch
	case o.started && epoch == o.epoch && o.seen && seq < o.last:
		return Duplicate
	}
	o.started, o.seen, o.epoch, o.last, o.stale = true, true, epoch, seq, false
	return Applied
}
