package gate

import (
	"time"

	"octet/scheduler"
)

// thrift bounds the work that preemption has an engine do again: to a share of the engine's time, with a reserve for
// bursts. Beyond it a more urgent request waits for the next place that comes free by itself, unless that would be too
// late for its deadline.
type thrift struct {
	share float64        // of the engine's time; 0 is no bound
	left  float64        // ns of work that may still be thrown away; below zero once the last of it was
	told  scheduler.Time // when left was last told
	again scheduler.Time // when whoever was denied is to be thought of again; 0 is nobody
}

// thriftMemory is the engine's time whose share a Gate saves up while nobody is preempted. It owes no more than that
// either: one victim that was dear does not make the urgent wait for longer.
const thriftMemory = 20 * time.Second

// allow sets the share. A Gate begins with all that it can save.
func (s *thrift) allow(share float64, now scheduler.Time) {
	if s.share == 0 {
		s.left, s.told = share*float64(thriftMemory), now
	}
	s.share = share
}

// earn brings left to now.
func (s *thrift) earn(now scheduler.Time) {
	most := s.share * float64(thriftMemory)
	s.left = min(most, max(-most, s.left)+s.share*float64(now-s.told))
	s.told = now
}

// due reports whether it is time to think again of whoever was denied.
func (s *thrift) due(now scheduler.Time) bool { return s.again != 0 && now >= s.again }

// affords reports whether others may give way for r, which would be the next to start. If not it returns when that may
// have changed. Caller holds gateMu.
func (g *Gate) affords(r *Request, now scheduler.Time) (again scheduler.Time, ok bool) {
	if g.thrift.share == 0 {
		return 0, true
	}
	g.thrift.earn(now)
	if g.thrift.left > 0 {
		return 0, true
	}
	wait := g.nextPlace(r, now)
	spare := g.slack(r, 0, wait, now)
	if wait == 0 || spare < 0 {
		return 0, true
	}
	poor := scheduler.Time(-g.thrift.left/g.thrift.share) + time.Millisecond
	return now + min(poor, max(spare, time.Millisecond)), false
}

// forgone is the engine's time that is lost with t's place, as far as the rates tell: an answer that comes whole begins
// anew, a stream has its prompt and what it has said computed again.
func (t *Ticket) forgone(now scheduler.Time) time.Duration {
	g := t.gate
	if t.whole {
		return time.Duration(float64(now-t.admitted) * t.share())
	}
	_, kept := t.yield()
	return g.rates.firstToken(max(0, int(t.progress(now))-kept), 0)
}
