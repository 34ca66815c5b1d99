// Package await waits, in tests that talk to real processes and sockets, for a condition instead of for a time.
package await

import (
	"testing"
	"time"
)

const (
	patience = 5 * time.Minute // so that no machine is too slow for it: only a failing test waits so long
	pace     = 2 * time.Millisecond
)

// True waits until ok returns true. After five minutes it ends the test, which never saw what.
func True(t testing.TB, what string, ok func() bool) {
	t.Helper()
	//nolint:forbidigo // tests alone import this
	for end := time.Now().Add(patience); !ok(); time.Sleep(pace) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
