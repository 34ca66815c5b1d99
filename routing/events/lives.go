package events

import (
	"slices"
	"time"

	"octet/routing/index"
)

// Lives is told when replicas announce their ends, and of their next lives. Both are called under the replica's lock,
// and must not call the Feed.
type Lives interface {
	// Ended is called when the replica has published Shutdown, at that time by its own clock; zero if it has none.
	Ended(replica string, at time.Time)
	// Began is called when, after that, a batch of a later epoch has come.
	Began(replica string)
}

// Tell has l told of replicas' lives. It is called before the first batch.
func (f *Feed) Tell(l Lives) { f.lives = l }

// end is the end of a life that a replica has announced.
type end struct {
	announced bool
	epoch     uint64
}

// noteEnd tells of a Shutdown in a batch that the index has taken, or found retired already.
func (s locked) noteEnd(b *Batch, out index.Outcome) {
	if s.lives == nil || out == index.Duplicate || out == index.OldEpoch {
		return
	}
	if slices.ContainsFunc(b.Events, func(e Event) bool { return e.Kind == Shutdown }) {
		s.end = end{true, b.Epoch}
		s.lives.Ended(b.Replica, b.At)
	}
}

// noteLife tells of a batch from after an announced end.
func (s locked) noteLife(b *Batch) {
	if s.end.announced && b.Epoch > s.end.epoch {
		s.end = end{}
		s.lives.Began(b.Replica)
	}
}
