package runs

import (
	"sync/atomic"
	"unsafe"
)

// counter counts on several cache lines, so that concurrent queries do not contend for one.
type counter [8]struct {
	n atomic.Uint64
	_ [56]byte
}

func (c *counter) add(stripe uint8, n int) { c[stripe%uint8(len(c))].n.Add(uint64(n)) }

// about is add without the lock on the bus, which costs as much as a lookup: of queries that meet here one may go
// uncounted.
func (c *counter) about(stripe uint8, n int) {
	if lockedReads {
		c.add(stripe, n)
		return
	}
	at := (*uint64)(unsafe.Pointer(&c[stripe%uint8(len(c))].n))
	put64(at, atomic.LoadUint64(at)+uint64(n))
}

func (c *counter) load() (sum uint64) {
	for i := range c {
		sum += c[i].n.Load()
	}
	return sum
}
