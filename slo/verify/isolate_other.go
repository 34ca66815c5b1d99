//go:build !linux

package verify

import "os/exec"

// isolate refuses: only Linux lets an ordinary process take the network from another.
func isolate(*exec.Cmd) error { return ErrIsolation }
