package index

import "sync/atomic"

// sharedSet is a HostBitmap that many goroutines change one bit at a time. Words are read one by one: a load that meets two
// changes may see either.
type sharedSet [Words]atomic.Uint64

// set puts h in by compare-and-swap and reports whether it was not in before.
func (b *sharedSet) set(h HostID) bool { return b.swap(h, true) }

// clear takes h out by compare-and-swap and reports whether it was in before.
func (b *sharedSet) clear(h HostID) bool { return b.swap(h, false) }

func (b *sharedSet) swap(h HostID, in bool) bool {
	word, bit := &b[h>>6], uint64(1)<<(h&63)
	for {
		old := word.Load()
		if (old&bit != 0) == in {
			return false
		}
		if word.CompareAndSwap(old, old^bit) {
			return true
		}
	}
}

func (b *sharedSet) has(h HostID) bool { return b[h>>6].Load()&(1<<(h&63)) != 0 }

func (b *sharedSet) load() (m HostBitmap) {
	for i := range b {
		m[i] = b[i].Load()
	}
	return m
}
