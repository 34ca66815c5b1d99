package index

import (
	"errors"
	"fmt"
)

// ErrConfig is what a constructor returns for a Config that cannot be.
var ErrConfig = errors.New("index: bad config")

// DefaultMaxBytes is the memory that an index may take unless its Config says otherwise.
const DefaultMaxBytes = 4 << 30

// Config sizes an index.
type Config struct {
	Hosts    int   // slots, at most MaxHosts; 0 = MaxHosts
	Sweeps   int   // sweeps that run side by side; 0 = 2
	MaxBytes int64 // that the run index takes before it evicts; 0 = DefaultMaxBytes

	Account *Account // what the run index takes is taken from; nil = one of MaxBytes, for it alone
}

// Filled returns c with its defaults, ErrConfig if it cannot be.
func (c Config) Filled() (Config, error) {
	switch {
	case c.Hosts < 0 || c.Hosts > MaxHosts:
		return c, fmt.Errorf("%w: %d hosts, this build holds 0 to %d", ErrConfig, c.Hosts, MaxHosts)
	case c.Sweeps < 0:
		return c, fmt.Errorf("%w: %d sweeps", ErrConfig, c.Sweeps)
	case c.MaxBytes < 0:
		return c, fmt.Errorf("%w: %d bytes", ErrConfig, c.MaxBytes)
	}
	if c.Hosts == 0 {
		c.Hosts = MaxHosts
	}
	if c.Sweeps == 0 {
		c.Sweeps = 2
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Account == nil {
		c.Account = &Account{limit: c.MaxBytes}
	}
	return c, nil
}
