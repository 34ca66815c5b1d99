//go:build !linux || race

package runs

import "unsafe"

// chunkBits is log2 of the bytes that a slab grows by.
const chunkBits = 19

// pages is memory that holds no pointers. Where it cannot be mapped, or should be seen by the race detector, it is the
// heap's.
type pages struct{ base unsafe.Pointer }

func mapPages(n int) (pages, error) {
	return pages{unsafe.Pointer(unsafe.SliceData(make([]uint64, n/8)))}, nil
}

// forgets says whether forget gives room back.
const forgets = false

func (pages) forget() {}

// unmap ends p. It must not be read any more.
func (pages) unmap() {}
