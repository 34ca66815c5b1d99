package fabric

import (
	"io"

	"octet/routing/events"
	"octet/routing/index"
)

// Trust returns what a replica is scored by: see package belief.
func (f *Fabric) Trust(id index.HostID) string { return f.beliefs.Trust(id) }

// Misfit returns why a replica's events tell nothing of the prompts that are routed there; "" if they do.
func (f *Fabric) Misfit(id index.HostID) string { return f.misfit(id) }

// Replica implements api.Knowledge.
func (f *Fabric) Replica(name string, id index.HostID) map[string]any {
	all := map[string]any{
		"trust":          f.beliefs.Trust(id),
		"refused_events": f.feed.RefusedEvents(name), // left out, as they could not be applied
		"misfit":         f.misfit(id),
		"known":          share(f.beliefs.Known(id)),    // of what was delivered from the cache, what events told
		"guesses_kept":   share(f.beliefs.Guessing(id)), // of what was guessed beyond that, what was delivered
		"unknown":        nil,                           // what events leave open
	}
	if unknown, ok := f.feed.Unknown(name); ok && f.beliefs.Partly(id) {
		all["unknown"] = unknown
	}
	return all
}

// known returns, by replica, which part of its delivered hits its events had told of. Replicas without hits are not
// among them.
func (f *Fabric) known() map[string]float64 {
	all := map[string]float64{}
	for name, r := range *f.present.Load() {
		if part, ok := f.beliefs.Known(r.Host); ok {
			all[name] = part
		}
	}
	return all
}

// share is as JSON takes it: null without any.
func share(part float64, ok bool) any {
	if !ok {
		return nil
	}
	return part
}

// Save implements api.Knowledge.
func (f *Fabric) Save(w io.Writer) error { return f.feed.Save(w) }

// Sources implements api.Knowledge.
func (f *Fabric) Sources() map[string]any {
	all := map[string]any{}
	for name, st := range f.SourceStats() {
		all[name] = sourceView(st)
	}
	st := f.feed.Stats()
	all["feed"] = map[string]any{
		"batches": st.Batches, "applied": st.Applied, "duplicates": st.Duplicates, "old_epochs": st.OldEpochs,
		"gaps": st.Gaps, "resyncs": st.Resyncs,
		"unknown": st.Unknown, "foreign": st.Foreign, "invalid": st.Invalid, "refused_events": st.RefusedEvents,
		"orphans": st.Orphans, "strangers": st.Strangers, "unmappable": st.Unmappable,
		"conflicts": st.Conflicts, "verified": st.Verified,
		"mismatched": st.Mismatched,
		"voices":     f.feed.Publishers(), "held": st.Held, "waiting_bytes": st.Waiting, "crowded": st.Crowded,
		"blocks": st.Blocks, "full": st.Full, "lag_ms": st.Lag.Milliseconds(),
	}
	return all
}

func sourceView(st events.ConsumerStats) map[string]any {
	return map[string]any{
		"connected": st.Connected, "messages": st.Messages, "bad": st.Bad, "refused": st.Refused,
		"other_rank": st.OtherRank, "failures": st.Failures, "reconnects": st.Reconnects,
		"rewinds": st.Rewinds, "dropped": st.Dropped, "replayed": st.Replayed, "snapshots": st.Snapshots,
		"panics": st.Panics, "last_error": st.LastError,
		"lag_ms": st.Lag.Milliseconds(),
	}
}
