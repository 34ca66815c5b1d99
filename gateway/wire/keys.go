package wire

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// keySet finds repeated member names. Objects of up to fewKeys members are compared in a row; a larger one moves into a
// hash table, so that n members cost O(n) and at most 64 bytes each. Names are compared in their plain form.
type keySet struct {
	few   []keyed   // members of the open small objects, innermost last
	open  []keyedAt // the open objects that have members here, innermost last
	slots []keySlot // members of large objects; len is a power of two
	used  int
	large uint32 // large objects seen
}

// keyed is a member and the hash of its name.
type keyed struct {
	hash uint64
	name text
}

// keyedAt says where the members of one open object are.
type keyedAt struct {
	base  int    // few[base:] while small
	room  int    // containers that may be opened in it: tells it from the others that are open
	large uint32 // its number in the table; 0 while small
}

type keySlot struct {
	name  text
	large uint32 // 0 is an empty slot
}

const fewKeys = 8

// keySeed makes collisions unpredictable: a body cannot be built to make the table slow.
var keySeed = maphash.MakeSeed()

// leave forgets the members of that object.
func (k *keySet) leave(room int) {
	if last := len(k.open) - 1; last >= 0 && k.open[last].room == room {
		k.few = k.few[:k.open[last].base]
		k.open = k.open[:last]
	}
}

// add notes the member just read of the innermost object, false when it has one of that name already.
func (k *keySet) add(c *Cursor, name text) bool {
	n := len(k.open)
	if n == 0 || k.open[n-1].room != c.room {
		k.open = append(k.open, keyedAt{base: len(k.few), room: c.room})
		n++
	}
	o := &k.open[n-1]
	hash := c.hash
	for i := o.base; i < len(k.few); i++ {
		if k.few[i].hash == hash && k.among(c, name, i) {
			return false
		}
	}
	if o.large != 0 || len(k.few)-o.base == fewKeys {
		return k.addLarge(c, name, o)
	}
	k.few = append(k.few, keyed{hash, name})
	return true
}

// among reports whether name is that of member i of the row.
//
//go:noinline
func (k *keySet) among(c *Cursor, name text, i int) bool {
	return bytes.Equal(c.bytes(k.few[i].name), c.bytes(name))
}

// addLarge is add for an object that has more than a few members, or gets them now.
//
//go:noinline
func (k *keySet) addLarge(c *Cursor, name text, o *keyedAt) bool {
	if o.large == 0 {
		k.move(c, o)
	}
	return k.put(c, keySlot{name, o.large})
}

// hashOf is the same for equal names, and mostly another for others: always for one as long, of up to 8 bytes, without
// zeros.
func hashOf(name []byte) uint64 {
	var front [16]byte
	copy(front[:], name)
	return binary.LittleEndian.Uint64(front[:]) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(front[8:]), 29)
}

// move puts the members of a small object into the table.
func (k *keySet) move(c *Cursor, o *keyedAt) {
	k.large++
	o.large = k.large
	for _, member := range k.few[o.base:] {
		k.put(c, keySlot{member.name, o.large})
	}
	k.few = k.few[:o.base]
}

func (k *keySet) put(c *Cursor, s keySlot) bool {
	if k.used*4 >= len(k.slots)*3 {
		k.grow(c)
	}
	plain := c.bytes(s.name)
	mask := len(k.slots) - 1
	for i := k.home(plain, s.large); ; i = (i + 1) & mask {
		switch held := &k.slots[i]; {
		case held.large == 0:
			*held = s
			k.used++
			return true
		case held.large == s.large && bytes.Equal(c.bytes(held.name), plain):
			return false
		}
	}
}

// home spreads equal names of different objects: nested objects often share their vocabulary.
func (k *keySet) home(plain []byte, large uint32) int {
	h := maphash.Bytes(keySeed, plain) + uint64(large)*0x9E3779B97F4A7C15
	return int(h & uint64(len(k.slots)-1))
}

func (k *keySet) grow(c *Cursor) {
	old := k.slots
	k.slots = make([]keySlot, max(64, 2*len(old)))
	k.used = 0
	for _, s := range old {
		if s.large != 0 {
			k.put(c, s)
		}
	}
}

// reset forgets everything and keeps only modest buffers.
func (k *keySet) reset() {
	k.few, k.open = kept(k.few), kept(k.open)
	if len(k.slots) > keepItems {
		k.slots = nil
	}
	if k.used > 0 {
		clear(k.slots)
	}
	k.used, k.large = 0, 0
}
