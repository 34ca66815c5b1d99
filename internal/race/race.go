// Package race says, in tests, whether the race detector watches.
package race

import "testing"

// Skip skips what one goroutine reckons for seconds: under the race detector that takes minutes and shows nothing.
func Skip(t *testing.T) {
	t.Helper()
	if Enabled {
		t.Skip("arithmetic of one goroutine, which takes minutes under the race detector; make test-poison runs it")
	}
}
