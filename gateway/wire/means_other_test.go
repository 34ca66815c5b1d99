//go:build !amd64

package wire

import "testing"

// byEveryMeans runs f once with each set of routines that this machine can run.
func byEveryMeans(t *testing.T, f func(t *testing.T)) { t.Run("words", f) }
