//go:build race

package events

const chaosOps = 100_000 // block changes: the race detector is slow
