//go:build !linux

package hangup

import (
	"errors"
	"syscall"
)

// Supported says whether a Watch can be had on this system.
const Supported = false

// Watch is not to be had on this system.
type Watch struct{}

// New fails.
func New(func(uint64)) (*Watch, error) { return nil, errors.ErrUnsupported }

// Add watches nothing.
func (*Watch) Add(syscall.RawConn, uint64) bool { return false }

// Close does nothing.
func (*Watch) Close() {}
