// Package scorerwrites has a Scorer that writes a slot. It does not compile.
package scorerwrites

import (
	"octet/routing"
	"octet/routing/index"
)

var words = routing.NewSlot[[]string]("words")

// Scorer wants to leave a note.
type Scorer struct{}

// Score writes.
func (Scorer) Score(v routing.View, _ []index.HostID, _ []float64) {
	words.Put(v, []string{"mine"})
}
