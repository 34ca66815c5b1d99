//go:build !linux

package front

import "syscall"

// Supported says whether this system lets one goroutine learn of every client that leaves.
const Supported = false

// watch sees nothing here.
type watch struct{}

func newWatch(func(id uint64)) (*watch, error)    { return &watch{}, nil }
func (w *watch) add(syscall.RawConn, uint64) bool { return false }
func (w *watch) close()                           {}
