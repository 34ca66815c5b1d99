package lease

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"
)

// Errors beside those of peers.
var (
	ErrConfig  = errors.New("lease: bad config")
	ErrTooLong = errors.New("lease: the message is too long")
)

// Bounds of a lease.
const (
	minLease = 50 * time.Millisecond
	maxLease = time.Minute
)

// DefaultKeep is for how long links keep what is put where no time is said.
const DefaultKeep = time.Hour

// Config is what is said alike to every link. A zero field takes the default named beside it.
type Config struct {
	Name       string        // of the gateway: see Valid. Required
	Lease      time.Duration // 2 s
	Timeout    time.Duration // a quarter of the lease, for one question to the store
	MaxMessage int64         // 256 KiB
	Log        *slog.Logger  // nil logs nothing
}

var names = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Valid reports whether name can be a gateway's: 1 to 64 letters, digits, '-' and '_'.
func Valid(name string) bool { return names.MatchString(name) }

// Filled returns c with its defaults, or ErrConfig.
func (c Config) Filled() (Config, error) {
	if c.Lease == 0 {
		c.Lease = 2 * time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = c.Lease / 4
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = 256 << 10
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case !Valid(c.Name):
		return c, fmt.Errorf("%w: name %.70q is not 1 to 64 letters, digits, - and _", ErrConfig, c.Name)
	case c.Lease < minLease || c.Lease > maxLease:
		return c, fmt.Errorf("%w: a lease of %v, not of %v to %v", ErrConfig, c.Lease, minLease, maxLease)
	case c.Timeout < 0 || c.MaxMessage < 0:
		return c, fmt.Errorf("%w: timeout %v, messages of %d bytes", ErrConfig, c.Timeout, c.MaxMessage)
	}
	return c, nil
}
