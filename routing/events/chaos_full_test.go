//go:build !race

package events

const chaosOps = 1_000_000 // block changes
