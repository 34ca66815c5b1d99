package fleet

import (
	"sync"
	"sync/atomic"
	"time"
)

// Work is what a replica has yet to prefill for requests on their way to it or in it.
type Work struct {
	Tokens float64 // uncached prompt tokens, less what must be computed by now at Rate
	// prompt tokens a second, without what any prompt takes, measured from first token to first token; 0 is unknown
	Rate float64
}

// Work returns what r has yet to prefill before a request that is sent there at now. It takes a lock only where
// something has changed since it was asked last. Unlike Backlog it knows that a long prompt that began long ago is
// nearly done.
func (r *Replica) Work(now time.Time) Work { return r.prefills.work(now) }

// prefills is the prompts of one replica without a first token, in the order in which they were sent, which is the
// order in which engines compute them.
type prefills struct {
	mu    sync.Mutex
	stale atomic.Bool // something has changed since shown
	sent  int         // of open, the first ones: the engine has them; guarded by mu
	open  []prefill   // guarded by mu
	last  uint64      // name that was given; guarded by mu
	since time.Time   // from when the first that was sent is being computed; guarded by mu
	paced line        // seconds from one first token to the next, over the tokens between them; guarded by mu

	shown atomic.Pointer[standing] // nil before the first prompt is asked about
}

// standing is prefills as they were last shown to readers.
type standing struct {
	rate   float64 // 0 is unknown
	sent   float64 // tokens of the prompts that were sent
	queued float64 // tokens of those that were not
	since  time.Time
}

// prefill is one of them.
type prefill struct {
	name   uint64 // unique among those of a replica, for its life
	tokens int    // to compute
	// nobody sees its first token: it is done when its time is over, or when a later one's first token comes
	whole bool
}

// route enters a prompt before it is sent, and names it.
func (l *prefills) route(d Demand) (name uint64) {
	l.mu.Lock()
	name = l.enter(d)
	l.mu.Unlock()
	return name
}

// start is route and begin.
func (l *prefills) start(d Demand, now time.Time) (name uint64) {
	l.mu.Lock()
	name = l.enter(d)
	l.send(len(l.open)-1, now)
	l.mu.Unlock()
	return name
}

// enter needs l.mu.
func (l *prefills) enter(d Demand) (name uint64) {
	l.last++
	l.open = append(l.open, prefill{name: l.last, tokens: d.Uncached, whole: d.Whole})
	l.changed()
	return l.last
}

// begin says that a prompt was sent: behind all that were, before all that were not.
func (l *prefills) begin(name uint64, now time.Time) {
	l.mu.Lock()
	if at := l.find(name, l.sent); at >= 0 { // else it was sent already, or is no more
		l.send(at, now)
		l.changed()
	}
	l.mu.Unlock()
}

// send moves open[at] to the end of those that were sent. It needs l.mu.
func (l *prefills) send(at int, now time.Time) {
	to := l.sent
	if to == 0 {
		l.since = now
	}
	if at > to {
		p := l.open[at]
		copy(l.open[to+1:at+1], l.open[to:at])
		l.open[to] = p
	}
	l.sent++
}

// find returns where a prompt is in open, from a place on; -1 is nowhere. It needs l.mu.
func (l *prefills) find(name uint64, from int) int {
	for i := from; i < len(l.open); i++ {
		if l.open[i].name == name {
			return i
		}
	}
	return -1
}

// done says that a prompt's first token came. It feeds the rate.
func (l *prefills) done(name uint64, now time.Time) {
	l.mu.Lock()
	if at := l.find(name, 0); at >= 0 {
		if at < l.sent {
			l.measure(at, now)
		}
		l.close(at)
	}
	l.mu.Unlock()
}

// drop says that a prompt's first token will not be seen.
func (l *prefills) drop(name uint64) {
	l.mu.Lock()
	if at := l.find(name, 0); at >= 0 {
		l.close(at)
	}
	l.mu.Unlock()
}

// close takes open[at] out. It needs l.mu.
func (l *prefills) close(at int) {
	if at < l.sent {
		l.sent--
	}
	last := len(l.open) - 1
	if at < last {
		copy(l.open[at:], l.open[at+1:])
	}
	l.open = l.open[:last]
	l.changed()
}

// changed has the next reader look for himself. It needs l.mu.
func (l *prefills) changed() {
	if !l.stale.Load() {
		l.stale.Store(true)
	}
}

// measure notes that open[at] is computed now, and with it what went before it unseen. It needs l.mu.
func (l *prefills) measure(at int, now time.Time) {
	tokens := l.open[at].tokens
	for i := range l.open[:at] {
		if p := &l.open[i]; p.whole {
			tokens += p.tokens
			p.tokens = 0
		}
	}
	l.paced.add(float64(tokens), max(0, now.Sub(l.since).Seconds()))
	l.since = now
}

// show lets readers see the present standing, and returns it.
func (l *prefills) show() *standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale.Store(false)
	s := &standing{since: l.since}
	if l.paced.known() {
		if _, slope := l.paced.fit(); slope > 0 {
			s.rate = 1 / slope
		}
	}
	for i := range l.open {
		if p := &l.open[i]; i < l.sent {
			s.sent += float64(p.tokens)
		} else {
			s.queued += float64(p.tokens)
		}
	}
	l.shown.Store(s)
	return s
}

func (l *prefills) work(now time.Time) Work {
	s := l.shown.Load()
	if l.stale.Load() {
		s = l.show()
	}
	if s == nil {
		return Work{}
	}
	w := Work{Tokens: s.queued, Rate: s.rate}
	if s.sent > 0 {
		w.Tokens += max(0, s.sent-s.rate*max(0, now.Sub(s.since).Seconds()))
	}
	return w
}
