// Package allocs measures, in tests, what a function allocates.
package allocs

import "runtime"

// Least returns how many bytes do allocates: the least of three runs, so that what other goroutines allocate meanwhile
// hardly counts.
func Least(do func()) uint64 {
	least := ^uint64(0)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
