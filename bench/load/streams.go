package load

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Streams are open answers whose events are counted as they come.
type Streams struct {
	events atomic.Int64
	conns  []*conn
	wait   sync.WaitGroup
}

// openers is how many streams are opened at the same time.
const openers = 32

// Open opens n streams; each has its first byte when it returns.
func (r Requests) Open(n int) (*Streams, error) {
	s := &Streams{conns: make([]*conn, n)}
	if err := spread(n, func(i int) error { return s.open(r, i) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// spread calls open for each of n connections, several at a time, and returns the first error that it meets.
func spread(n int, open func(i int) error) error {
	errs := make([]error, openers)
	var opening sync.WaitGroup
	for k := range openers {
		opening.Go(func() {
			for i := k; i < n && errs[k] == nil; i += openers {
				errs[k] = open(i)
			}
		})
	}
	opening.Wait()
	return cmp.Or(errs...)
}

func (s *Streams) open(r Requests, i int) error {
	c, err := r.dial()
	if err != nil {
		return err
	}
	s.conns[i] = c
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_, body, err := c.begin(r.Bodies[i%len(r.Bodies)], r.Status)
	if err != nil {
		return fmt.Errorf("load: stream %d: %w", i, err)
	}
	_ = c.SetDeadline(time.Time{})
	c.count(body)
	s.events.Add(int64(c.events))
	s.wait.Go(func() { s.follow(c) })
	return nil
}

func (s *Streams) follow(c *conn) {
	for {
		n, err := c.Read(c.buf[:])
		if err != nil {
			return
		}
		before := c.events
		c.count(c.buf[:n])
		s.events.Add(int64(c.events - before))
	}
}

// Events returns how many events have come so far.
func (s *Streams) Events() int64 { return s.events.Load() }

// Close leaves all of them.
func (s *Streams) Close() {
	for _, c := range s.conns {
		if c != nil {
			_ = c.Close()
		}
	}
	s.wait.Wait()
}
