package fleet

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Work is what a replica has yet to prefill for requests on their way to it or in it.
type Work struct {
	Tokens float64 // uncached prompt tokens, less what must be computed by now at Rate
	Rate   float64 // prompt tokens a second, without what any prompt takes, measured from first token to first token; 0 is unknown
}

// Work returns what r has yet to prefill before a request that is sent there at now. It takes a lock only where something has
// changed since it was asked last. Unlike Backlog it knows
// that a long prompt that began long ago is nearly done.
func (r *Replica) Work(now time.Time) Work { return r.prefills.work(now) }

// prefills is the prompts of one replica without a first token, in the order in which they were sent, which is the order in
// which engines compute them.
type prefills struct {
	mu    sync.Mutex
	open  []*prefill // guarded by mu, with what it points to
	since time.Time  // from when the first that was sent is being computed; guarded by mu
	paced line       // seconds from one first token to the next, over the tokens between them; guarded by mu

	idle  []*prefill               // memory of prompts that are no more; guarded by mu
	stale atomic.Bool              // something has changed since shown
	shown atomic.Pointer[standing] // nil before the first prompt is asked about
}

// mostIdle is how many prompts' memory is kept.
const mostIdle = 64

// standing is prefills as they were last shown to readers.
type standing struct {
	rate   float64 // 0 is unknown
	sent   float64 // tokens of the prompts that were sent
	queued float64 // tokens of those that were not
	since  time.Time
}

// prefill is one of them.
type prefill struct {
	tokens int  // to compute
	sent   bool // the engine has it
	whole  bool // nobody sees its first token: it is done when its time is over, or when a later one's first token comes
}

// route enters a prompt before it is sent.
func (l *prefills) route(d Demand) *prefill {
	l.mu.Lock()
	defer l.mu.Unlock()
	var p *prefill
	if n := len(l.idle); n > 0 {
		p, l.idle = l.idle[n-1], l.idle[:n-1]
	} else {
		p = new(prefill)
	}
	*p = prefill{tokens: d.Uncached, whole: d.Whole}
	l.open = append(l.open, p)
	l.changed()
	return p
}

// begin says that p was sent: behind all that were, before all that were not.
func (l *prefills) begin(p *prefill, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to := l.sent()
	at := to // mostly: who came first is sent first
	for at < len(l.open) && l.open[at] != p {
		at++
	}
	if at == len(l.open) { // it was sent already, or is no more
		return
	}
	p.sent = true
	if to == 0 {
		l.since = now
	}
	copy(l.open[to+1:at+1], l.open[to:at])
	l.open[to] = p
	l.changed()
}

// done says that p's first token came. It feeds the rate.
func (l *prefills) done(p *prefill, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.open, p)
	if at < 0 {
		return
	}
	if p.sent {
		l.measure(at, now)
	}
	l.close(at)
}

// drop says that p's first token will not be seen.
func (l *prefills) drop(p *prefill) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.open, p); at >= 0 {
		l.close(at)
	}
}

// close takes open[at] out. Who had it does not use it any more. It needs l.mu.
func (l *prefills) close(at int) {
	if len(l.idle) < mostIdle {
		l.idle = append(l.idle, l.open[at])
	}
	last := len(l.open) - 1
	if at < last {
		copy(l.open[at:], l.open[at+1:])
	}
	l.open[last] = nil
	l.open = l.open[:last]
	l.changed()
}

// changed has the next reader look for himself. It needs l.mu.
func (l *prefills) changed() {
	if !l.stale.Load() {
		l.stale.Store(true)
	}
}

// sent returns how many of open were sent. It needs l.mu.
func (l *prefills) sent() int {
	n := 0
	for n < len(l.open) && l.open[n].sent {
		n++
	}
	return n
}

// measure notes that open[at] is computed now, and with it what went before it unseen. It needs l.mu.
func (l *prefills) measure(at int, now time.Time) {
	tokens := l.open[at].tokens
	for _, p := range l.open[:at] {
		if p.whole {
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
	for _, p := range l.open {
		if p.sent {
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
