//go:build !race

package race

// Enabled says whether the race detector watches.
const Enabled = false
