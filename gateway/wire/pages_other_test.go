//go:build !linux

package wire

import "testing"

// page returns memory as it comes: here nothing tells of a byte touched outside of it.
func page(*testing.T) []byte { return make([]byte, 4096) }
