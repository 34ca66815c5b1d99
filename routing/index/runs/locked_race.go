//go:build race

package runs

// lockedReads makes readers take the lock. The race detector cannot see that a reader who met the writer throws away
// what it saw.
const lockedReads = true
