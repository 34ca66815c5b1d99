package index

import (
	"errors"
	"fmt"
)

// Sentinels of the slots' life.
var (
	ErrOutOfRange = errors.New("index: no such slot")
	ErrUnswept    = errors.New("index: slot is not swept yet")
	ErrAlive      = errors.New("index: slot is in use")
)

// ErrConfig is what a constructor answers a Config with that cannot be.
var ErrConfig = errors.New("index: bad config")

// DefaultMaxBytes is the memory that an Indexer may take unless its Config says otherwise.
const DefaultMaxBytes = 4 << 30

// Config sizes an index.
type Config struct {
	Hosts    int   // slots, at most MaxHosts; 0 = MaxHosts
	Sweeps   int   // sweeps that run side by side; 0 = 2
	MaxBytes int64 // that an Indexer takes before it evicts; 0 = DefaultMaxBytes

	Account *Account // what an Indexer takes is taken from; nil = one of MaxBytes, for it alone
}

// filled returns c with its defaults, ErrConfig when it cannot be.
func (c Config) filled() (Config, error) {
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

// slots is the life of an index's slots: free, alive, retired and waiting for its sweep, free.
type slots struct {
	alive  sharedSet     // replicas outside it are masked out of every answer
	used   sharedSet     // slots that are not reusable: alive, or retired and not swept
	stale  countedSet    // replicas that missed events
	size   int           // slots that can be used: those below it
	sweeps chan struct{} // cap == Config.Sweeps: one place for each running sweep
}

func newSlots(c Config) slots { return slots{size: c.Hosts, sweeps: make(chan struct{}, c.Sweeps)} }

// Alive returns the replicas that answers may name. It takes no lock.
func (s *slots) Alive() HostBitmap { return s.alive.load() }

// Stale returns the living replicas that missed events: what the index says of them is a guess. It takes no lock.
func (s *slots) Stale() (none HostBitmap) {
	if s.stale.empty() {
		return none
	}
	return s.stale.load().And(s.alive.load())
}

// Retire takes h out of every later answer, at once: one compare-and-swap, no lock. It reports whether h was alive.
// What h held stays, masked, until Sweep.
func (s *slots) Retire(id HostID) bool { return s.exists(id) && s.alive.clear(id) }

// Unswept returns the retired slots that wait for their Sweep. It takes no lock.
func (s *slots) Unswept() HostBitmap { return s.used.load().AndNot(s.alive.load()) }

// Reusable reports whether h can be admitted as a new replica.
func (s *slots) Reusable(id HostID) bool { return s.exists(id) && !s.used.has(id) }

func (s *slots) exists(id HostID) bool { return int(id) < s.size }

func (s *slots) outOfRange(id HostID) error {
	return fmt.Errorf("%w: host %d of %d", ErrOutOfRange, id, s.size)
}
