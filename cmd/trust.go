package cmd

import (
	"context"
	"time"

	"octet/config"
	"octet/routing/events"
	"octet/routing/index"
)

const trustEvery = 250 * time.Millisecond // a look at who can be heard

// sourceStats returns how every source of events is doing, by name.
func (h *house) sourceStats() map[string]events.ConsumerStats {
	all := h.sockets.stats()
	if shared := h.shared.Load(); shared != nil {
		for name, c := range *shared {
			all[name] = c.Stats()
		}
	}
	return all
}

// watchSources keeps the set of replicas whose events tell nothing: all that could carry them has been unreachable for
// longer than that, or they do not fit. Without any source there is nothing to fall silent.
func (h *house) watchSources(ctx context.Context, most time.Duration) {
	tick := time.NewTicker(trustEvery)
	defer tick.Stop()
	heard := map[string]time.Time{}
	panics := map[string]uint64{}
	for {
		now := time.Now()
		stats := h.sourceStats()
		for name, st := range stats {
			if st.Panics > panics[name] {
				h.log.Error("a source of cache events panicked and begins again", "source", name, "panic", st.LastPanic)
			}
			panics[name] = st.Panics
			if _, known := heard[name]; st.Connected || !known {
				heard[name] = now
			}
		}
		for name := range heard {
			if _, ok := stats[name]; !ok {
				delete(heard, name)
				delete(panics, name)
			}
		}
		silent := h.silent(func(source string) bool { return now.Sub(heard[source]) > most }, heard)
		silent = silent.Or(h.feed.Misfits())
		h.beliefs.silent.Store(&silent)
		h.feed.ReplaceSilent()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// silent returns the replicas all of whose sources are down.
func (h *house) silent(down func(source string) bool, sources map[string]time.Time) (silent index.HostBitmap) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, r := range h.residents {
		lost := 0
		may := 0
		for source := range sources {
			if !carries(source, name, r.events) {
				continue
			}
			may++
			if down(source) {
				lost++
			}
		}
		if may > 0 && lost == may {
			silent.Set(r.replica.Host)
		}
	}
	return silent
}

// targetOf says where a resident's blocks go, who may tell of them, and what they are called.
func (h *house) targetOf(cfg *config.Config, name string, r *resident) events.Target {
	to := events.Target{Host: r.replica.Host, Specialist: r.key.specialist, BlockSize: r.key.blockSize,
		Source: sourceOf(name, r.events)}
	if r.events == nil || r.events.Source != "any" {
		to.Patience = cfg.Events.BindFor
	}
	to.Salts = salts(cfg)
	if scheme := h.schemes.of(r.hashes); scheme != nil {
		to.Scheme, to.Named = scheme, r.key.scheme != hashes{}
	}
	return to
}

// saltless returns the replicas whose engines know no salts, while some prompts have one: what their events tell of
// could be any tenant's, so no prompt is held against it.
func saltless(cfg *config.Config, residents map[string]*resident) (all index.HostBitmap) {
	if !salts(cfg) {
		return all
	}
	for _, r := range residents {
		if !r.replica.Kind.TakesSalt {
			all.Set(r.replica.Host)
		}
	}
	return all
}

// carries says whether a source may bring a replica's events.
func carries(source, replica string, e *config.ReplicaEvents) bool {
	if own := sourceOf(replica, e); own != "" {
		return source == own
	}
	return source == "redis" || source == "nats" || source == "grpc"
}
