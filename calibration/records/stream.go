// Package records carries calibration records away: to a file, a Redis stream, a NATS subject, or several of them.
//
//	Offer ─▶ one line of JSON ─┬▶ queue ─▶ its goroutine ─▶ File
//	                           └▶ queue ─▶ its goroutine ─▶ Redis …
//
// Invariants:
//
//  1. Offer never waits: what a queue has no place for is dropped and counted, for that sink alone.
//  2. What a sink cannot write is dropped and counted; the next record is tried anew.
//  3. A file holds whole lines only, also after a disk was full.
package records

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"octet/calibration"
)

// Sink is somewhere that records go. Write is called by one goroutine at a time, and returns soon after ctx ends.
type Sink interface {
	Name() string
	Write(ctx context.Context, line []byte) error
	Close() error
}

// Bounds are those of a Stream. A zero field takes the default named beside it.
type Bounds struct {
	Queue        int           // records that wait for each sink; 1024: minutes of shadows, a few megabytes
	WriteTimeout time.Duration // of one record; 5 s
	CloseTimeout time.Duration // for all that is queued in the end; 3 s
}

func (b Bounds) withDefaults() Bounds {
	return Bounds{cmp.Or(b.Queue, 1024), cmp.Or(b.WriteTimeout, 5*time.Second), cmp.Or(b.CloseTimeout, 3*time.Second)}
}

// Stream sends every record to every sink.
type Stream struct {
	bounds Bounds
	lanes  []*lane
	mu     sync.RWMutex // held to offer; taken whole to close
	ended  bool
	wait   sync.WaitGroup
	ctx    context.Context // ends CloseTimeout after the last offer
	cut    context.CancelFunc
}

// lane is one sink and its queue.
type lane struct {
	sink    Sink
	lines   chan []byte // cap Bounds.Queue
	written atomic.Uint64
	full    atomic.Uint64
	failed  atomic.Uint64
}

// Counts are what has become of a sink's records.
type Counts struct {
	Written uint64
	Full    uint64 // dropped: the queue had no place
	Failed  uint64 // dropped: could not be written
}

// Open starts a Stream over sinks, which it closes in the end.
func Open(b Bounds, sinks ...Sink) *Stream {
	s := &Stream{bounds: b.withDefaults()}
	s.ctx, s.cut = context.WithCancel(context.Background())
	for _, sink := range sinks {
		l := &lane{sink: sink, lines: make(chan []byte, s.bounds.Queue)}
		s.lanes = append(s.lanes, l)
		s.wait.Go(func() { l.run(s.ctx, s.bounds.WriteTimeout) })
	}
	return s
}

// Offer queues r for every sink, and reports whether all had a place.
func (s *Stream) Offer(r calibration.Record) bool {
	line, err := json.Marshal(r)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.ended {
		return false
	}
	all := true
	for _, l := range s.lanes {
		all = l.offer(line, err) && all
	}
	return all
}

func (l *lane) offer(line []byte, err error) bool {
	if err != nil {
		l.failed.Add(1)
		return false
	}
	select {
	case l.lines <- line:
		return true
	default:
		l.full.Add(1)
		return false
	}
}

func (l *lane) run(ctx context.Context, timeout time.Duration) {
	for line := range l.lines {
		if err := l.write(ctx, line, timeout); err != nil {
			l.failed.Add(1)
			continue
		}
		l.written.Add(1)
	}
}

func (l *lane) write(ctx context.Context, line []byte, timeout time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil { // a library's, by what its server has said
			err = fmt.Errorf("records: writing to %s: panic: %v", l.sink.Name(), r)
		}
	}()
	return l.sink.Write(ctx, line)
}

// Counts returns what has become of each sink's records so far, by its name.
func (s *Stream) Counts() map[string]Counts {
	all := make(map[string]Counts, len(s.lanes))
	for _, l := range s.lanes {
		all[l.sink.Name()] = Counts{l.written.Load(), l.full.Load(), l.failed.Load()}
	}
	return all
}

// Close takes no more records, gives those that are queued a moment, and closes the sinks.
func (s *Stream) Close() error {
	s.mu.Lock()
	first := !s.ended
	s.ended = true
	s.mu.Unlock()
	if !first {
		return nil
	}
	for _, l := range s.lanes {
		close(l.lines)
	}
	late := time.AfterFunc(s.bounds.CloseTimeout, s.cut)
	s.wait.Wait()
	late.Stop()
	s.cut()
	var err error
	for _, l := range s.lanes {
		err = errors.Join(err, l.sink.Close())
	}
	return err
}
