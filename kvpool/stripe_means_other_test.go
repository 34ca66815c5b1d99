//go:build !amd64

package kvpool

// eachMeans calls f once with each set of routines that this machine can run.
func eachMeans(f func(name string)) { f("words") }
