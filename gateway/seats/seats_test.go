package seats

import (
	"errors"
	"sync"
	"testing"
	"time"

	"octet/gateway/apierr"
)

// clock is a time that only tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newSeats() (*Seats, *clock) {
	c := &clock{time.Unix(1_000_000, 0)}
	return New(c.now), c
}

// codeOf returns "" for nil.
func codeOf(e *apierr.Error) apierr.Code {
	if e == nil {
		return ""
	}
	return e.Code
}

func TestNoMoreThanMostAreOpen(t *testing.T) {
	s, _ := newSeats()
	for range 2 {
		if e := s.CheckFree(2); e != nil {
			t.Fatal(e)
		}
		if e := s.Take(2); e != nil {
			t.Fatal(e)
		}
	}
	if codeOf(s.CheckFree(2)) != apierr.Overloaded || codeOf(s.Take(2)) != apierr.Overloaded {
		t.Error("a third was let in")
	}
	if s.Open() != 2 {
		t.Errorf("%d are open", s.Open())
	}
	s.Leave(2)
	if e := s.Take(2); e != nil {
		t.Errorf("a free seat was refused: %v", e)
	}
}

// A stay is worth a look at the clock while most seats are taken, and for the first.
func TestStaysAreNotedWhereTheyMatter(t *testing.T) {
	s, _ := newSeats()
	for range 4 {
		if e := s.Take(4); e != nil {
			t.Fatal(e)
		}
	}
	if !s.Leave(4) { // three are left
		t.Error("most seats are taken")
	}
	s.Stayed(time.Second)
	if s.Leave(4) {
		t.Error("half of the seats are free")
	}
}

func TestRequestsSentAwayComeBackOneAfterAnother(t *testing.T) {
	s, _ := newSeats()
	if e := s.Take(1); e != nil {
		t.Fatal(e)
	}
	if e := s.CheckFree(1); e.RetryAfter != 0 {
		t.Errorf("with no stay known a request is to come back after %v", e.RetryAfter)
	}
	s.Stayed(4 * time.Second)
	last := time.Duration(0)
	for range 3 {
		e := s.CheckFree(1)
		if e.RetryAfter <= last {
			t.Errorf("one is to come back after %v, the next after %v", last, e.RetryAfter)
		}
		last = e.RetryAfter
	}
	before := s.away.Away()
	if before != 3 {
		t.Fatalf("%d are away", before)
	}
}

func TestADrainRefusesWithTheTimeItTakes(t *testing.T) {
	s, c := newSeats()
	if s.Draining() || s.CheckDrain() != nil {
		t.Error("it drains before it has begun")
	}
	s.Drain(c.now().Add(20 * time.Second))
	if e := s.CheckDrain(); !s.Draining() || codeOf(e) != apierr.Draining || e.RetryAfter != 20*time.Second {
		t.Errorf("%v after %v", codeOf(e), e.RetryAfter)
	}
	if e := s.Take(1); e != nil {
		t.Errorf("a body on its way was refused: %v", e)
	}
	c.at = c.at.Add(time.Minute)
	if e := s.CheckDrain(); e.RetryAfter != grain {
		t.Errorf("beyond the drain's end a request is to come back after %v", e.RetryAfter)
	}
}

func TestSeatsAreShutOnlyIfNoneIsTaken(t *testing.T) {
	s, c := newSeats()
	arriving := int64(1)
	count := func() int64 { return arriving }
	s.Drain(c.now())
	if s.Shut(count) {
		t.Error("it was shut with a body on its way")
	}
	arriving = 0
	if e := s.Take(1); e != nil {
		t.Fatal(e)
	}
	if s.Shut(count) {
		t.Error("it was shut with a request open")
	}
	s.Leave(1)
	if !s.Shut(count) {
		t.Error("it was not shut")
	}
	if e := s.Take(1); codeOf(e) != apierr.Draining {
		t.Errorf("after that a request got %v", codeOf(e))
	}
}

// A request that takes a seat between Shut's look and its closing keeps it from returning true.
func TestARequestThatComesBetweenKeepsShutFromReturningTrue(t *testing.T) {
	s, _ := newSeats()
	if s.Shut(func() int64 {
		if s.Open() == 0 {
			_ = s.Take(1) // after the first look at the seats
		}
		return 0
	}) {
		t.Errorf("it was shut with %d open", s.Open())
	}
}

// Whatever comes between, no request is open once Shut has returned true.
func TestNoRequestBeginsAfterShut(t *testing.T) {
	for range 200 {
		s, _ := newSeats()
		var running sync.WaitGroup
		var took [4]error
		for i := range took {
			running.Go(func() {
				if e := s.Take(8); e != nil {
					took[i] = errors.New(string(e.Code))
				}
			})
		}
		shut := s.Shut(func() int64 { return 0 })
		running.Wait()
		if open := s.Open(); shut && open != 0 {
			t.Fatalf("%d are open after Shut: %v", open, took)
		}
	}
}
