//go:build !linux

package poll

import (
	"errors"
	"syscall"
	"time"

	"octet/internal/http1/guard"
)

// Supported is true where the system has epoll.
const Supported = false

// Loop cannot be had on this system.
type Loop struct{}

// NewLoop fails.
func NewLoop(guard.Report) (*Loop, error) { return nil, errors.ErrUnsupported }

// Add always returns false.
func (*Loop) Add(uintptr, Stream, time.Duration) bool { return false }

// Close does nothing.
func (*Loop) Close() {}

// Watch cannot be had on this system.
type Watch struct{}

// NewWatch fails.
func NewWatch(func(uint64), guard.Report) (*Watch, error) { return nil, errors.ErrUnsupported }

// Add always returns false.
func (*Watch) Add(syscall.RawConn, uint64) bool { return false }

// Close does nothing.
func (*Watch) Close() {}
