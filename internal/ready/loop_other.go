//go:build !linux

package ready

import (
	"errors"
	"time"
)

// Supported says whether a Loop can be had on this system.
const Supported = false

// Loop is not to be had on this system.
type Loop struct{}

// New fails.
func New() (*Loop, error) { return nil, errors.ErrUnsupported }

// Add takes nobody.
func (*Loop) Add(uintptr, Stream, time.Duration) bool { return false }

// Close does nothing.
func (*Loop) Close() {}
