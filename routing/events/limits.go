package events

import (
	"errors"
	"fmt"
)

// What a batch may hold. The bounds leave room for a step of the largest engines, and keep what a hostile message can
// cost in memory to a small multiple of its size.
const (
	MaxMessageBytes = 8 << 20 // of one encoded batch, in either form
	MaxEvents       = 1 << 16 // an encoded batch
	// a batch, all events together: more than MaxMessageBytes has room for at eight bytes each
	MaxHashes    = 1 << 20
	MaxTokens    = 1 << 20 // a batch, all events together
	MaxBlockSize = 65536   // tokens a block
	MaxNameBytes = 256     // a replica's, adapter's or salt's
)

// ErrBatch is the coarse grain of every error about a batch that cannot be encoded or decoded; one of the others below
// is always beside it.
var ErrBatch = errors.New("events: bad batch")

// The fine grain.
var (
	ErrTooLarge  = errors.New("over a limit")    // one of the limits of this package
	ErrMalformed = errors.New("malformed")       // not the wire form
	ErrInvalid   = errors.New("not a batch")     // the wire form of something that makes no sense
	ErrClosed    = errors.New("events: closed")  // the publisher was closed
	ErrFull      = errors.New("events: dropped") // no room, now; the batch is lost and its gap will show
)

func refuse(grain error, format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s", ErrBatch, grain, fmt.Sprintf(format, args...))
}

// Check reports whether b could be sent as it is: its names and counts within the limits, and every event complete.
func (b *Batch) Check() error {
	if b.Replica == "" {
		return refuse(ErrInvalid, "no replica")
	}
	if len(b.Replica) > MaxNameBytes {
		return refuse(ErrTooLarge, "replica name of %d bytes", len(b.Replica))
	}
	if year := b.At.UTC().Year(); year < 1 || year > 9999 {
		return refuse(ErrInvalid, "made in the year %d", year)
	}
	var hashes, tokens int
	for i := range b.Events {
		e := &b.Events[i]
		if err := e.check(); err != nil {
			return fmt.Errorf("%w (event %d)", err, i)
		}
		hashes += len(e.Hashes)
		tokens += len(e.Tokens)
	}
	if hashes > MaxHashes || tokens > MaxTokens {
		return refuse(ErrTooLarge, "%d hashes and %d tokens", hashes, tokens)
	}
	return nil
}

func (e *Event) check() error {
	if len(e.Adapter) > MaxNameBytes || len(e.Salt) > MaxNameBytes {
		return refuse(ErrTooLarge, "adapter of %d bytes, salt of %d", len(e.Adapter), len(e.Salt))
	}
	if int(e.Tier) >= len(tierToWire) {
		return refuse(ErrInvalid, "tier %d", e.Tier)
	}
	if e.BlockSize < 0 || e.BlockSize > MaxBlockSize {
		return refuse(ErrInvalid, "block size %d", e.BlockSize)
	}
	switch e.Kind {
	case Registered:
		return e.checkBlocks()
	case Evicted:
		if len(e.Hashes) == 0 {
			return refuse(ErrInvalid, "evicted without hashes")
		}
	case Cleared, Shutdown:
	default:
		return refuse(ErrInvalid, "kind %d", e.Kind)
	}
	return nil
}

func (e *Event) checkBlocks() error {
	if len(e.Hashes) == 0 {
		return refuse(ErrInvalid, "registered without hashes")
	}
	if len(e.Tokens) == 0 {
		return nil
	}
	if e.BlockSize == 0 || len(e.Tokens) != e.BlockSize*len(e.Hashes) {
		return refuse(ErrInvalid, "%d tokens for %d blocks of %d", len(e.Tokens), len(e.Hashes), e.BlockSize)
	}
	return nil
}
