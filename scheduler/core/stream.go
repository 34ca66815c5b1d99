package core

import (
	"context"
	"sync"

	"octet/scheduler"
)

// Stream is one request's tokens. Next is for one goroutine at a time; Cancel for any.
//
// The mailbox never blocks the loop: it holds at most MaxNew outputs, all that a request can have.
type Stream struct {
	id       uint64
	loop     *Loop
	accepted chan error    // cap 1: Run answers a submit once
	mail     chan struct{} // cap 1: the mailbox has something

	read []Output // owned by Next: taken from the mailbox
	next int      // of read

	mailMu  sync.Mutex
	pending []Output // guarded by mailMu
	err     error    // guarded by mailMu; comes after pending, and stays
}

// ID returns the request's id.
func (s *Stream) ID() uint64 { return s.id }

// Next returns the next token as soon as there is one. After the finishing one it returns io.EOF; a stream that ends
// otherwise returns ErrCancelled, ErrEngine (wrapping the engine's error) or ErrClosed. ctx ends the wait, not the
// stream.
func (s *Stream) Next(ctx context.Context) (Output, error) {
	for {
		if s.next < len(s.read) {
			s.next++
			return s.read[s.next-1], nil
		}
		if err := s.fetch(); err != nil {
			return Output{}, err
		}
		if len(s.read) > 0 {
			continue
		}
		select {
		case <-s.mail:
		case <-ctx.Done():
			return Output{}, ctx.Err()
		}
	}
}

// fetch empties the mailbox into read; the two slices change places. The stream's end counts once nothing is before it.
func (s *Stream) fetch() error {
	s.mailMu.Lock()
	defer s.mailMu.Unlock()
	s.read, s.pending = s.pending, s.read[:0]
	s.next = 0
	if len(s.read) > 0 {
		return nil
	}
	return s.err
}

// Cancel ends the stream and frees its blocks at once, in mid-step too. What came before can still be read; nothing
// comes after it. Idempotent; does nothing to a stream that has ended.
func (s *Stream) Cancel() {
	if !s.end(scheduler.ErrCancelled) {
		return
	}
	select {
	case s.loop.commands <- command{stream: s, cancel: true}:
	case <-s.loop.ended:
	}
}

func (s *Stream) deliver(o Output) {
	s.mailMu.Lock()
	if s.err == nil {
		s.pending = append(s.pending, o)
	}
	s.mailMu.Unlock()
	s.notify()
}

// end closes the stream with err and reports whether it was open.
func (s *Stream) end(err error) bool {
	s.mailMu.Lock()
	first := s.err == nil
	if first {
		s.err = err
	}
	s.mailMu.Unlock()
	s.notify()
	return first
}

func (s *Stream) notify() {
	select {
	case s.mail <- struct{}{}:
	default:
	}
}
