package metrics

import (
	"sync/atomic"
)

// Accuracy counts what became of the cache hits that were predicted of one replica or specialist: the engine delivered
// all of the cached tokens, a part, or none. Safe for concurrent use; a nil Accuracy counts nothing.
type Accuracy struct {
	all, part, none      atomic.Uint64
	predicted, delivered atomic.Uint64 // tokens
}

// HitAccuracy is a snapshot of an Accuracy.
type HitAccuracy struct {
	All   uint64   `json:"all"`  // answers with every token that was predicted, or more
	Part  uint64   `json:"part"` // with fewer
	None  uint64   `json:"none"`
	Share *float64 `json:"share,omitempty"` // All of the three; absent before the first
}

// Note counts one answer: predicted > 0 tokens were expected from the cache, delivered came from it.
func (a *Accuracy) Note(predicted, delivered int) {
	if a == nil {
		return
	}
	switch kept(predicted, delivered) {
	case keptAll:
		a.all.Add(1)
	case keptPart:
		a.part.Add(1)
	default:
		a.none.Add(1)
	}
}

// Deliver counts the tokens of one answer whose engine tells what came from its cache; none may have been predicted.
func (a *Accuracy) Deliver(predicted, delivered int) {
	a.predicted.Add(uint64(max(predicted, 0)))
	a.delivered.Add(uint64(max(delivered, 0)))
}

// Tokens returns the tokens so far.
func (a *Accuracy) Tokens() (predicted, delivered uint64) {
	return a.predicted.Load(), a.delivered.Load()
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

// kept names what became of a prediction.
func kept(predicted, delivered int) string {
	switch {
	case delivered >= predicted:
		return keptAll
	case delivered > 0:
		return keptPart
	}
	return keptNone
}
