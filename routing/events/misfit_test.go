package events

import (
	"testing"

	"octet/routing/index"
)

// An engine whose blocks or names are not what was configured is found out by its first events, and is believed again
// in its next life. MOD2-39
func TestEnginesThatAreNotWhatWasSaidAreFoundOut(t *testing.T) {
	named := debug0
	named.Named, named.Scheme = true, plainScheme{}
	for name, row := range map[string]struct {
		to   Target
		say  Event
		want bool
	}{
		"blocks that fit":          {debug0, stored(true, 0, tokens(1, 8), 1, 5), false},
		"blocks of twice the size": {debug0, stored(true, 0, tokens(1, 8), 1), false},
		"blocks of half the size":  {debug0, stored(true, 0, tokens(1, 4), 1, 3), true},
		"names that are right":     {named, stored(true, 0, tokens(1, 8), 1, 5), false},
		"names of another seed":    {named, stored(true, 0, tokens(1, 8), 2, 6), true},
		"names of blocks of another size": {named,
			Event{Kind: Registered, Root: true, Hashes: []uint64{1}, BlockSize: 8}, true},
		"no size, so it is taken to be so": {named, Event{Kind: Registered, Root: true, Hashes: []uint64{1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFeed(newIndex(t, 4), hasher, only("e", row.to))
			f.Deliver(Batch{Replica: "e", Epoch: 1, Seq: 1, Events: []Event{row.say}})
			if got := f.Misfits(); got.Has(row.to.Host) != row.want {
				t.Errorf("%v, %+v", got.Has(row.to.Host), f.Stats())
			}
			f.Deliver(Batch{Replica: "e", Epoch: 1, Seq: 2, Events: []Event{{Kind: Cleared}}})
			if got := f.Misfits(); got != (index.HostBitmap{}) {
				t.Error("it is held against an empty cache")
			}
		})
	}
}
