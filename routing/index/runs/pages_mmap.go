//go:build linux && !race

package runs

import (
	"fmt"
	"syscall"
	"unsafe"
)

// chunkBits is log2 of the bytes that a slab grows by: a huge page.
const chunkBits = 21

const (
	hugePage     = 2 << 20
	adviseHuge   = 14 // MADV_HUGEPAGE
	adviseForget = 4  // MADV_DONTNEED
)

// pages is memory outside the garbage collector's sight, zeroed, aligned to what its size deserves.
type pages struct {
	base unsafe.Pointer
	raw  []byte
}

// mapPages returns n bytes. They take room only once they are touched.
func mapPages(n int) (pages, error) {
	slack := 0
	if n >= hugePage {
		slack = hugePage
	}
	raw, err := syscall.Mmap(-1, 0, n+slack, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return pages{}, fmt.Errorf("index: mapping %d bytes: %w", n, err)
	}
	skip := 0
	if slack > 0 {
		skip = int(-uintptr(unsafe.Pointer(&raw[0])) & (hugePage - 1))
		_ = syscall.Madvise(raw[skip:skip+n], adviseHuge) // a wish: without it the pages are smaller
	}
	return pages{base: unsafe.Pointer(&raw[skip]), raw: raw}, nil
}

// forgets says whether forget gives room back.
const forgets = true

// forget gives the memory's room back; it stays readable, as zeros.
func (p pages) forget() { _ = syscall.Madvise(p.raw, adviseForget) }

// unmap ends p. It must not be read any more.
func (p pages) unmap() { _ = syscall.Munmap(p.raw) }
