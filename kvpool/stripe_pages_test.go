//go:build linux

package kvpool

import (
	"os"
	"syscall"
	"testing"
)

// pages returns some pages of memory with none that may be touched before them and behind them.
func pages(t *testing.T, n int) []byte {
	t.Helper()
	size := os.Getpagesize()
	all, err := syscall.Mmap(-1, 0, (n+2)*size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no memory map:", err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, outside := range [][]byte{all[:size], all[(n+1)*size:]} {
		if err := syscall.Mprotect(outside, syscall.PROT_NONE); err != nil {
			t.Skip("no guard:", err)
		}
	}
	return all[size : (n+1)*size : (n+1)*size]
}
