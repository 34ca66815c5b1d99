package fabric

import "octet/routing/index"

// emptyTries is how often Empty tries again where events come in between.
const emptyTries = 3

// Empty notes that the cache of a replica is empty, whatever its events have told: its engine has put its model aside.
// Its later events count from there on.
func (f *Fabric) Empty(replica string, host index.HostID) {
	f.guesses.Forget(host)
	for range emptyTries {
		at, heard := f.feed.Position(replica)
		if !heard || f.feed.Resync(replica, at.Epoch, at.Seq, nil) == nil {
			return
		}
	}
}
