package fabric

import (
	"context"
	"time"

	"octet/config"
	"octet/routing/events"
	"octet/routing/index"
)

const (
	watchEvery = 250 * time.Millisecond // how often sources are looked at
	lossAfter  = 2 * time.Second        // the log is told of a source that is lost for so long
)

// takeIn takes the events of a source in until ctx ends. One that cannot begin, as its port is in use say, is tried
// again: its Stats tell why it is not connected.
func takeIn(ctx context.Context, s events.Consumer, sink events.Sink) {
	for wait := events.NewBackoff(); ctx.Err() == nil; wait.Pause(ctx) {
		_ = s.Consume(ctx, sink) // it has noted the error
	}
}

// SourceStats returns the counts of every source of events, by name.
func (f *Fabric) SourceStats() map[string]events.ConsumerStats {
	all := f.sockets.stats()
	if shared := f.shared.Load(); shared != nil {
		for name, s := range *shared {
			all[name] = s.Stats()
		}
	}
	return all
}

// sourceWatch is what is remembered of sources between two looks.
type sourceWatch struct {
	*Fabric
	connected map[string]time.Time // when a source was last seen connected, or first seen; by source
	once      map[string]bool      // the source was connected before; by source
	panics    map[string]uint64    // by source
	lost      map[string]time.Time // when it was last seen connected, of a source that the log was told is lost
	excludes  bool                 // Lives was told of lost sockets
	misfits   index.HostBitmap     // replicas whose events do not fit
	doubts    doubts               // that the log was told of
}

// waits are how long sources may be lost before it matters.
type waits struct{ trustFor, excludeAfter time.Duration }

// watchSources keeps the set of silent replicas up to date, until ctx ends: those all of whose sources have been
// unreachable for longer than TrustFor, and those whose events do not fit. A replica without any source is not silent.
// It also tells Lives of replicas whose own sockets have been lost for ExcludeAfter; 0 is never.
func (f *Fabric) watchSources(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	w := sourceWatch{Fabric: f, connected: map[string]time.Time{}, once: map[string]bool{}, panics: map[string]uint64{},
		lost: map[string]time.Time{}, doubts: doubts{}}
	for {
		now, waits := time.Now(), f.waits.Load()
		w.look(now)
		w.tellDoubts(now)
		down := func(source string) bool { return now.Sub(w.connected[source]) > waits.trustFor }
		w.misfits = f.misfits(w.misfits)
		f.beliefs.Silence(silent(*f.present.Load(), w.connected, down).Or(w.misfits))
		f.feed.ReplaceSilent()
		if excludes := waits.excludeAfter > 0; (excludes || w.excludes) && f.lives != nil {
			w.excludes = excludes
			w.tellLost(now, waits.excludeAfter)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tellLost tells which replicas' own sockets were connected once and have been lost for so long: none, where after is
// zero. A shared source says nothing of one replica: while it is lost, all would be.
func (w *sourceWatch) tellLost(now time.Time, after time.Duration) {
	for name, r := range *w.present.Load() {
		source, own := zmqSource(name), r.Events != nil && r.Events.ZMQ != ""
		w.lives.Silent(name, after > 0 && own && w.once[source] && now.Sub(w.connected[source]) >= after)
	}
}

// look brings w up to date.
func (w *sourceWatch) look(now time.Time) {
	stats := w.SourceStats()
	for name, st := range stats {
		if st.Panics > w.panics[name] {
			w.log.Error("a source of cache events panicked and begins again", "source", name, "panic", st.LastPanic)
		}
		w.panics[name] = st.Panics
		if _, known := w.connected[name]; st.Connected || !known {
			w.connected[name] = now
		}
		w.once[name] = w.once[name] || st.Connected || st.Messages > 0
		w.tellSource(name, &st, now)
	}
	for name := range w.connected {
		if _, ok := stats[name]; !ok {
			delete(w.connected, name)
			delete(w.once, name)
			delete(w.panics, name)
			delete(w.lost, name)
		}
	}
}

// tellSource logs, once each, that a source cannot be read, and why, and that it can be read again.
func (w *sourceWatch) tellSource(name string, st *events.ConsumerStats, now time.Time) {
	since, told := w.lost[name]
	switch seen := w.connected[name]; {
	case st.Connected && told:
		delete(w.lost, name)
		w.log.Info("a source of cache events can be read again", "source", name, "after",
			now.Sub(since).Round(watchEvery))
	case !st.Connected && !told && st.LastError != "" && now.Sub(seen) >= lossAfter:
		w.lost[name] = seen
		w.log.Warn("a source of cache events cannot be read, which is tried again and again", "source", name,
			"error", st.LastError)
	}
}

// silent returns the replicas all of whose sources are down.
func silent(replicas map[string]Replica, sources map[string]time.Time,
	down func(source string) bool) (all index.HostBitmap) {
	for name, r := range replicas {
		carrying, lost := 0, 0
		for source := range sources {
			if !carries(source, name, r.Events) {
				continue
			}
			carrying++
			if down(source) {
				lost++
			}
		}
		if carrying > 0 && lost == carrying {
			all.Set(r.Host)
		}
	}
	return all
}

// carries returns true if a source may bring a replica's events.
func carries(source, replica string, e *config.ReplicaEvents) bool {
	if own := sourceOf(replica, e); own != "" {
		return source == own
	}
	return source == "redis" || source == "nats" || source == "grpc"
}
