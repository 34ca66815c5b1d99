package fabric

import (
	"context"
	"time"

	"octet/config"
	"octet/routing/events"
	"octet/routing/index"
)

// watchEvery is how often sources are looked at.
const watchEvery = 250 * time.Millisecond

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
	connected map[string]time.Time // when a source was last seen connected, or first seen; by source
	panics    map[string]uint64    // by source
}

// watchSources keeps the set of silent replicas up to date, until ctx ends: those all of whose sources have been
// unreachable for longer than trustFor, and those whose events do not fit. A replica without any source is not silent.
func (f *Fabric) watchSources(ctx context.Context, trustFor time.Duration) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	w := sourceWatch{map[string]time.Time{}, map[string]uint64{}}
	for {
		now := time.Now()
		f.look(&w, now)
		down := func(source string) bool { return now.Sub(w.connected[source]) > trustFor }
		f.beliefs.Silence(silent(*f.present.Load(), w.connected, down).Or(f.feed.Misfits()))
		f.feed.ReplaceSilent()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look brings w up to date.
func (f *Fabric) look(w *sourceWatch, now time.Time) {
	stats := f.SourceStats()
	for name, st := range stats {
		if st.Panics > w.panics[name] {
			f.log.Error("a source of cache events panicked and begins again", "source", name, "panic", st.LastPanic)
		}
		w.panics[name] = st.Panics
		if _, known := w.connected[name]; st.Connected || !known {
			w.connected[name] = now
		}
	}
	for name := range w.connected {
		if _, ok := stats[name]; !ok {
			delete(w.connected, name)
			delete(w.panics, name)
		}
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
