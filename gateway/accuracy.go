package gateway

import "sync/atomic"

// Accuracy counts what became of the hits that were predicted of one replica, or one specialist: whether the engine
// delivered all of the cached tokens, a part, or none. Safe for concurrent use; a nil one counts nothing.
type Accuracy struct{ all, part, none atomic.Uint64 }

// HitAccuracy is an Accuracy at one moment.
type HitAccuracy struct {
	All   uint64   `json:"all"`  // answers with every token that was predicted, or more
	Part  uint64   `json:"part"` // with fewer
	None  uint64   `json:"none"`
	Share *float64 `json:"share,omitempty"` // All of the three; absent before the first
}

// note counts one answer of which predicted > 0 tokens were to come from the cache, and delivered did.
func (a *Accuracy) note(kept string) {
	if a == nil {
		return
	}
	switch kept {
	case keptAll:
		a.all.Add(1)
	case keptPart:
		a.part.Add(1)
	default:
		a.none.Add(1)
	}
}

// Read returns the counts so far.
func (a *Accuracy) Read() (h HitAccuracy) {
	if a == nil {
		return h
	}
	h.All, h.Part, h.None = a.all.Load(), a.part.Load(), a.none.Load()
	if n := h.All + h.Part + h.None; n > 0 {
		share := float64(h.All) / float64(n)
		h.Share = &share
	}
	return h
}

// What became of a predicted hit.
const (
	keptAll  = "all"
	keptPart = "part"
	keptNone = "none"
)

func kept(predicted, delivered int) string {
	switch {
	case delivered >= predicted:
		return keptAll
	case delivered > 0:
		return keptPart
	}
	return keptNone
}

// notePredicted holds the hit that the answering replica was picked for against what its engine delivered.
func (x *exchange) notePredicted(delivered int) {
	if x.foretold <= 0 {
		return
	}
	became := kept(x.foretold, delivered)
	x.sp.handles.predicted.note(became)
	x.turn.rep.Accuracy.note(became)
}
