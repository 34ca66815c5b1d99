//go:build linux

package wire

import (
	"os"
	"syscall"
	"testing"
)

// page returns a page of memory with none that may be touched before it and behind it.
func page(t *testing.T) []byte {
	t.Helper()
	size := os.Getpagesize()
	all, err := syscall.Mmap(-1, 0, 3*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no memory map:", err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, outside := range [][]byte{all[:size], all[2*size:]} {
		if err := syscall.Mprotect(outside, syscall.PROT_NONE); err != nil {
			t.Skip("no guard:", err)
		}
	}
	return all[size : 2*size : 2*size]
}
