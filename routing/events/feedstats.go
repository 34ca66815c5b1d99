package events

import (
	"slices"
	"sync/atomic"
	"time"

	"octet/routing/index"
)

// FeedStats is what a Feed has done since it was made.
type FeedStats struct {
	Batches    uint64 // that came, of all replicas and by all transports
	Applied    uint64 // that the index took
	Duplicates uint64 // that had come before
	OldEpochs  uint64 // from before the replica's last start
	Gaps       uint64 // times that batches were found missing for good
	Unknown    uint64 // batches of unknown replicas
	Resyncs    uint64 // times that a replica's state was taken over from elsewhere
	Foreign    uint64 // batches of replicas that their source may not speak for
	Dead       uint64 // batches for a slot that is not in use
	Invalid    uint64 // batches that do not pass Check; no transport of ours lets one through
	Refused    uint64 // batches that the index had seen though the feed had not: after a snapshot

	// batches for which there was no room to wait: what was missing before them was given up, or they were
	Crowded       uint64
	RefusedEvents uint64 // of batches that were applied, left out: over a limit, or incomplete

	Orphans    uint64 // registered blocks whose content cannot be told, because the block before them is not known
	Unmappable uint64 // registered blocks of a size that is no multiple of ours
	Ignored    uint64 // registered blocks beyond MaxBlocks, or of unknown content and without room
	Conflicts  uint64 // blocks that were registered with two contents
	Verified   uint64 // registered blocks that were compared with what the engine's scheme calls them
	// of those, the ones that are called something else: another scheme, seed or salt than is configured
	Mismatched uint64
	Strangers  uint64 // evictions of what was never registered

	Held    int           // batches that wait for one before them, now
	Waiting int64         // bytes that those, what challengers have parked and blocks of unknown content take, now
	Blocks  int           // engine blocks that are mapped, now
	Full    []string      // replicas of which blocks had to be ignored for want of room, in order of name
	Lag     time.Duration // from the publisher's clock to ours, of the batch applied last
}

// tally is the running part of FeedStats.
type tally struct {
	batches, applied, duplicates, oldEpochs, gaps, unknown, foreign, resyncs, dead, invalid, refused atomic.Uint64
	crowded, refusedEvents, orphans, unmappable, ignored, conflicts, strangers, verified, mismatched atomic.Uint64
	blocks                                                                                           atomic.Int64
	// nanoseconds
	lag atomic.Int64
}

// Stats takes every replica's lock in turn, so it is no snapshot of one moment.
func (f *Feed) Stats() FeedStats {
	t := &f.tally
	st := FeedStats{
		Batches: t.batches.Load(), Applied: t.applied.Load(), Duplicates: t.duplicates.Load(),
		OldEpochs: t.oldEpochs.Load(),
		Gaps:      t.gaps.Load(), Unknown: t.unknown.Load(), Foreign: t.foreign.Load(), Resyncs: t.resyncs.Load(),
		Dead: t.dead.Load(), Invalid: t.invalid.Load(), Refused: t.refused.Load(),
		Crowded: t.crowded.Load(), RefusedEvents: t.refusedEvents.Load(),
		Orphans: t.orphans.Load(), Unmappable: t.unmappable.Load(), Ignored: t.ignored.Load(),
		Conflicts: t.conflicts.Load(), Strangers: t.strangers.Load(),
		Verified: t.verified.Load(), Mismatched: t.mismatched.Load(),
		Waiting: f.account.Waiting(), Blocks: int(t.blocks.Load()), Lag: time.Duration(t.lag.Load()),
	}
	f.feedMu.RLock()
	names := make(map[string]*replicaState, len(f.replicas))
	for name, s := range f.replicas {
		names[name] = s
	}
	f.feedMu.RUnlock()
	for name, s := range names {
		held, full := s.state()
		st.Held += held
		if full {
			st.Full = append(st.Full, name)
		}
	}
	slices.Sort(st.Full)
	return st
}

// state returns how many batches wait, and whether blocks had to be ignored.
func (s *replicaState) state() (held int, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.order.early), s.held.full
}

// RefusedEvents returns how many events of a replica's batches were left out.
func (f *Feed) RefusedEvents(replica string) uint64 {
	s := f.known(replica)
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// Misfits returns the replicas whose events say nothing of our chains, as their engines are not what they were said to
// be: their blocks have another size, or, where prompts are hashed as engines do, other names. That ends with their
// life, or when their cache is cleared.
func (f *Feed) Misfits() (all index.HostBitmap) {
	for _, s := range f.all() {
		s.mu.Lock()
		if !s.gone && s.held.misfit(s.target) {
			all.Set(s.target.Host)
		}
		s.mu.Unlock()
	}
	return all
}
