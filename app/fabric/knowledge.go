package fabric

import (
	"io"

	"octet/routing/events"
	"octet/routing/index"
)

// Trust implements api.Knowledge.
func (f *Fabric) Trust(id index.HostID) string { return f.beliefs.Trust(id) }

// Heard implements api.Knowledge.
func (f *Fabric) Heard(replica string, id index.HostID) (refused uint64, misfit string) {
	return f.feed.RefusedEvents(replica), f.misfit(id)
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
		"orphans": st.Orphans, "unmappable": st.Unmappable, "conflicts": st.Conflicts, "verified": st.Verified,
		"mismatched": st.Mismatched,
		"voices":     f.feed.Publishers(), "held": st.Held, "waiting_bytes": st.Waiting, "crowded": st.Crowded,
		"blocks": st.Blocks, "full": st.Full, "lag_ms": st.Lag.Milliseconds(),
	}
	return all
}

func sourceView(st events.ConsumerStats) map[string]any {
	return map[string]any{
		"connected": st.Connected, "messages": st.Messages, "bad": st.Bad, "refused": st.Refused,
		"failures": st.Failures, "reconnects": st.Reconnects,
		"rewinds": st.Rewinds, "dropped": st.Dropped, "replayed": st.Replayed, "panics": st.Panics,
		"lag_ms": st.Lag.Milliseconds(),
	}
}
