//go:build race

package runs

// lockedReads makes readers take the lock. The race detector cannot see that a reader that met the writer discards
// what it read.
const lockedReads = true
