// Package enginetest is of tests that need a row of the table of engine kinds.
package enginetest

import (
	"testing"

	"octet/engine"
)

// Kind returns an engine's kind from the table.
func Kind(t testing.TB, name string) engine.Kind {
	t.Helper()
	k, ok := engine.AllKinds().Named(name)
	if !ok {
		t.Fatalf("no engine kind %q", name)
	}
	return k
}
