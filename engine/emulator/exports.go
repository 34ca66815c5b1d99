package emulator

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// exports holds the prompts that were computed here for other engines, in memory beside the pool, each until it is
// fetched or its lease ends. Safe for concurrent use.
type exports struct {
	limit int // blocks at most
	lease time.Duration

	exportsMu sync.Mutex
	byKey     map[string]export
	blocks    int // of all in byKey
	made      uint64
	changed   chan struct{} // closed, and replaced, when something comes or goes
}

type export struct {
	transfer *kvTransfer
	blocks   int
	expires  time.Time
}

func newExports(c Config) *exports {
	return &exports{limit: c.Blocks, lease: c.KVLease, byKey: make(map[string]export), changed: make(chan struct{})}
}

// name returns a key that no export had before.
func (x *exports) name(request string) string {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.made++
	return fmt.Sprintf("%s-%d", request, x.made)
}

// put keeps p under key. False: the key is taken, or there is no room for it.
func (x *exports) put(key string, p *kvTransfer, blocks int) bool {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.sweep()
	if _, taken := x.byKey[key]; taken || x.blocks+blocks > x.limit {
		return false
	}
	x.byKey[key] = export{p, blocks, time.Now().Add(x.lease)}
	x.blocks += blocks
	x.tell()
	return true
}

// find returns what is kept under key; nil when nothing is, any more. changed is closed when that may be otherwise.
func (x *exports) find(key string) (p *kvTransfer, changed <-chan struct{}) {
	x.exportsMu.Lock()
	defer x.exportsMu.Unlock()
	x.sweep()
	return x.byKey[key].transfer, x.changed
}

// await returns what is kept under key as soon as something is; nil when ctx ends first.
func (x *exports) await(ctx context.Context, key string) *kvTransfer {
	for {
		p, changed := x.find(key)
		if p != nil {
			return p
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// awaitGone returns when nothing is kept under key, when its lease has ended, or when ctx ends: then it is dropped.
func (x *exports) awaitGone(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(ctx, x.lease)
	defer cancel()
	defer x.drop(key)
	for {
		p, changed := x.find(key)
		if p == nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
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

// sweep drops prompts that were not fetched in time. exportsMu is held.
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
	x.tell()
}

func (x *exports) tell() {
	close(x.changed)
	x.changed = make(chan struct{})
}
