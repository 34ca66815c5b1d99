package index

import (
	"context"
	"errors"
	"fmt"
)

// Sentinels of a slot's life.
var (
	ErrOutOfRange = errors.New("index: no such slot")
	ErrUnswept    = errors.New("index: slot is not swept yet")
	ErrAlive      = errors.New("index: slot is in use")
)

// Slots is the life of an index's slots: reusable, alive, retired and waiting for its sweep, reusable. An index embeds
// it. Which of its own state goes with a slot is up to the index: it calls Occupy, SetStale and Vacate under its own
// lock of the slot.
type Slots struct {
	alive    SharedSet       // replicas outside it are masked out of every answer
	used     SharedSet       // slots that are not reusable: alive, or retired and not swept
	stale    CountedSet      // replicas that missed events
	size     int             // slots that can be used: those below it
	sweeps   chan struct{}   // cap == Config.Sweeps: one permit for each running sweep
	sweeping []chan struct{} // cap == 1 each: held by the slot's running sweep
}

// Size makes s the slots of an index of that Config, all of them reusable. It is called once, before any other method.
func (s *Slots) Size(c Config) {
	s.size, s.sweeps, s.sweeping = c.Hosts, make(chan struct{}, c.Sweeps), make([]chan struct{}, c.Hosts)
	for i := range s.sweeping {
		s.sweeping[i] = make(chan struct{}, 1)
	}
}

// Alive returns the replicas that answers may name. It takes no lock.
func (s *Slots) Alive() HostBitmap { return s.alive.Load() }

// AliveWord returns word i of Alive.
func (s *Slots) AliveWord(i int) uint64 { return s.alive[i].Load() }

// IsAlive returns true if h is alive.
func (s *Slots) IsAlive(h HostID) bool { return s.alive.Has(h) }

// Stale returns the living replicas that missed events: what the index knows of them is a guess. It takes no lock.
func (s *Slots) Stale() (none HostBitmap) {
	if s.stale.Empty() {
		return none
	}
	return s.stale.Load().And(s.alive.Load())
}

// SetStale notes whether h has missed events.
func (s *Slots) SetStale(h HostID, stale bool) {
	if stale {
		s.stale.Set(h)
	} else {
		s.stale.Clear(h)
	}
}

// Exists returns true if the index has a slot h.
func (s *Slots) Exists(h HostID) bool { return int(h) < s.size }

// OutOfRange is the error for a slot that does not exist.
func (s *Slots) OutOfRange(h HostID) error {
	return fmt.Errorf("%w: host %d of %d", ErrOutOfRange, h, s.size)
}

// Occupy puts h to use. It returns false if h is alive already, and ErrUnswept if it cannot be used yet.
func (s *Slots) Occupy(h HostID) (fresh bool, err error) {
	switch {
	case s.alive.Has(h):
		return false, nil
	case s.used.Has(h):
		return false, fmt.Errorf("%w: host %d", ErrUnswept, h)
	}
	s.used.Set(h)
	s.alive.Set(h)
	return true, nil
}

// Retire takes h out of every later answer, at once: one compare-and-swap, no lock. It returns true if h was alive.
// What h held stays, masked, until its sweep.
func (s *Slots) Retire(h HostID) bool { return s.Exists(h) && s.alive.Clear(h) }

// Unswept returns the retired slots that wait for their sweep. It takes no lock.
func (s *Slots) Unswept() HostBitmap { return s.used.Load().AndNot(s.alive.Load()) }

// Reusable returns true if h can be admitted as a new replica.
func (s *Slots) Reusable(h HostID) bool { return s.Exists(h) && !s.used.Has(h) }

// Vacate makes h reusable: nothing of its replica is left.
func (s *Slots) Vacate(h HostID) {
	s.stale.Clear(h)
	s.used.Clear(h)
}

// BeginSweep waits until no other sweep of h runs and fewer than Config.Sweeps run altogether, or until ctx ends. end
// lets the next one begin.
func (s *Slots) BeginSweep(ctx context.Context, h HostID) (end func(), err error) {
	own := s.sweeping[h]
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case s.sweeps <- struct{}{}:
		return func() { <-s.sweeps; <-own }, nil
	case <-ctx.Done():
		<-own
		return nil, ctx.Err()
	}
}
