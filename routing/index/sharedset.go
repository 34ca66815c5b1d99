package index

import "sync/atomic"

// SharedSet is a HostBitmap that many goroutines change one bit at a time. Words are read one by one: a load that meets
// two changes may see either.
type SharedSet [Words]atomic.Uint64

// CountedSet is a SharedSet that is mostly empty, which is one load to see.
type CountedSet struct {
	SharedSet
	count atomic.Int64 // at least how many are in; no more than that once no change is under way
}

// Set puts h in and returns true if it was not in before.
func (b *CountedSet) Set(h HostID) bool {
	b.count.Add(1)
	fresh := b.SharedSet.Set(h)
	if !fresh {
		b.count.Add(-1)
	}
	return fresh
}

// Clear takes h out and returns true if it was in before.
func (b *CountedSet) Clear(h HostID) bool {
	had := b.SharedSet.Clear(h)
	if had {
		b.count.Add(-1)
	}
	return had
}

// Empty returns true if no host is in.
func (b *CountedSet) Empty() bool { return b.count.Load() == 0 }

// Set puts h in by compare-and-swap and returns true if it was not in before.
func (b *SharedSet) Set(h HostID) bool { return b.swap(h, true) }

// Clear takes h out by compare-and-swap and returns true if it was in before.
func (b *SharedSet) Clear(h HostID) bool { return b.swap(h, false) }

func (b *SharedSet) swap(h HostID, in bool) bool {
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

// Has returns true if h is in.
func (b *SharedSet) Has(h HostID) bool { return b[h>>6].Load()&(1<<(h&63)) != 0 }

// Load returns the set.
func (b *SharedSet) Load() (m HostBitmap) {
	for i := range b {
		m[i] = b[i].Load()
	}
	return m
}
