package emulator

import (
	"fmt"
	"sync"
	"time"
)

// exports holds the prompts that were computed here for other engines, in memory beside the pool, each until it is fetched or
// its lease ends. Safe for concurrent use.
type exports struct {
	limit int // blocks at most
	lease time.Duration

	exportsMu sync.Mutex
	byKey     map[string]export
	blocks    int // of all in byKey
	made      uint64
}

type export struct {
	parcel  *parcel
	blocks  int
	expires time.Time
}

func newExports(c Config) *exports {
	return &exports{limit: c.Blocks, lease: c.KVLease, byKey: make(map[string]export)}
}

// put keeps p under a key of its own. False: there is no room for it.
func (x *exports) put(request string, p *parcel, blocks int) (key string, ok bool) {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.sweep()
	if x.blocks+blocks > x.limit {
		return "", false
	}
	x.made++
	key = fmt.Sprintf("%s-%d", request, x.made)
	x.byKey[key] = export{p, blocks, time.Now().Add(x.lease)}
	x.blocks += blocks
	return key, true
}

// find returns what is kept under key; nil when nothing is, any more.
func (x *exports) find(key string) *parcel {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.sweep()
	return x.byKey[key].parcel
}

// drop lets go of what is kept under key.
func (x *exports) drop(key string) {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.remove(key)
}

// held returns the blocks that are kept for others.
func (x *exports) held() int {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.sweep()
	return x.blocks
}

// sweep drops what nobody came for. exportsMu is held.
func (x *exports) sweep() {
	now := time.Now()
	for key, e := range x.byKey {
		if !now.Before(e.expires) {
			x.remove(key)
		}
	}
}

func (x *exports) remove(key string) {
	x.blocks -= x.byKey[key].blocks
	delete(x.byKey, key)
}
