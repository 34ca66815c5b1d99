package index

import "math/bits"

// MaxHosts is how many replicas one index can tell apart.
const MaxHosts = Words * 64

// HostID is a replica's slot in the index, 0 … MaxHosts-1.
type HostID uint16

// HostBitmap is a set of replicas: flat words, no pointers, no allocation.
type HostBitmap [Words]uint64

// HostSet returns the set of the given hosts.
func HostSet(hosts ...HostID) (b HostBitmap) {
	for _, h := range hosts {
		b.Set(h)
	}
	return b
}

// Has returns true if h is in the set.
func (b HostBitmap) Has(h HostID) bool { return b[h>>6]&(1<<(h&63)) != 0 }

// Set puts h in.
func (b *HostBitmap) Set(h HostID) { b[h>>6] |= 1 << (h & 63) }

// Clear takes h out.
func (b *HostBitmap) Clear(h HostID) { b[h>>6] &^= 1 << (h & 63) }

// And returns the intersection.
func (b HostBitmap) And(o HostBitmap) HostBitmap {
	// no build has fewer, and a loop costs four times as much
	b[0], b[1], b[2], b[3] = b[0]&o[0], b[1]&o[1], b[2]&o[2], b[3]&o[3]
	for i := 4; i < Words; i++ {
		b[i] &= o[i]
	}
	return b
}

// Equal returns true if both hold the same.
func (b *HostBitmap) Equal(o *HostBitmap) bool {
	differ := (b[0] ^ o[0]) | (b[1] ^ o[1]) | (b[2] ^ o[2]) | (b[3] ^ o[3])
	for i := 4; i < Words; i++ {
		differ |= b[i] ^ o[i]
	}
	return differ == 0
}

// Keep takes out all that are not in o, and returns true if there were any. It is And in place, and writes nothing
// where all stay.
func (b *HostBitmap) Keep(o *HostBitmap) (fewer bool) {
	for i := range b {
		if gone := b[i] &^ o[i]; gone != 0 {
			b[i] ^= gone
			fewer = true
		}
	}
	return fewer
}

// AndNot returns b without o.
func (b HostBitmap) AndNot(o HostBitmap) HostBitmap {
	b[0], b[1], b[2], b[3] = b[0]&^o[0], b[1]&^o[1], b[2]&^o[2], b[3]&^o[3]
	for i := 4; i < Words; i++ {
		b[i] &^= o[i]
	}
	return b
}

// Or returns the union.
func (b HostBitmap) Or(o HostBitmap) HostBitmap {
	b[0], b[1], b[2], b[3] = b[0]|o[0], b[1]|o[1], b[2]|o[2], b[3]|o[3]
	for i := 4; i < Words; i++ {
		b[i] |= o[i]
	}
	return b
}

// Count returns the number of hosts in the set.
func (b HostBitmap) Count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty returns true if the set is empty.
func (b HostBitmap) Empty() bool {
	union := b[0] | b[1] | b[2] | b[3]
	for i := 4; i < Words; i++ {
		union |= b[i]
	}
	return union == 0
}

// All yields the hosts in ascending order.
func (b HostBitmap) All() func(yield func(HostID) bool) {
	return func(yield func(HostID) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(HostID(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
