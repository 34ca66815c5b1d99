package fleet

import (
	"sync"
	"sync/atomic"
	"time"
)

// prefills are the prompts of one replica without a first token, in the order in which they were sent, which is the
// order in which engines compute them.
type prefills struct {
	view  atomic.Pointer[prefillView] // nil before the first prompt is asked about
	stale atomic.Bool                 // something has changed since view

	mu      sync.Mutex
	sent    int        // of open, the first ones: the engine has them; guarded by mu
	pending []prefill  // guarded by mu
	last    uint64     // name that was given; guarded by mu
	recent  recent     // guarded by mu
	since   time.Time  // from when the first that was sent is being computed, at the earliest; guarded by mu
	others  int        // tokens that other gateways have there to compute; guarded by mu
	mixed   bool       // they have had some since then; guarded by mu
	rate    regression // seconds from one first token to the next, over the tokens between them; guarded by mu
}

// prefillView is prefills as readers last saw them.
type prefillView struct {
	rate float64 // 0 is unknown
	sent float64 // tokens of the prompts that were sent
	// tokens of sent up to and with the first prompt whose first token will be seen: had more of them been computed by
	// now, that token would have come
	head   float64
	queued float64 // tokens of the prompts that were not sent
	since  int64   // from when the first that was sent is being computed, in nanoseconds by the wall clock

	slowdown, life float64
	recent         recent
}

// prefill is one of them.
type prefill struct {
	name   uint64 // unique among those of a replica, for its life
	tokens int    // to compute
	// its first token is not seen: it is done when its time is over, or when a later prompt's first token comes
	whole bool

	sent   time.Time // zero before that
	ahead  int       // tokens that were to be computed before it then, as far as was known
	shared bool      // of these some are other gateways'
}

// route enters a prompt before it is sent, and returns its name.
func (l *prefills) route(d Demand) (name uint64) {
	l.mu.Lock()
	name = l.add(d)
	l.mu.Unlock()
	return name
}

// start is route and begin.
func (l *prefills) start(d Demand, now time.Time) (name uint64) {
	l.mu.Lock()
	name = l.add(d)
	l.send(len(l.pending)-1, now)
	l.mu.Unlock()
	return name
}

// add enters a prompt. The caller holds mu.
func (l *prefills) add(d Demand) (name uint64) {
	l.last++
	l.pending = append(l.pending, prefill{name: l.last, tokens: d.Uncached, whole: d.Whole})
	l.markStale()
	return l.last
}

// begin notes that a prompt was sent: behind all that were, before all that were not.
func (l *prefills) begin(name uint64, now time.Time) {
	l.mu.Lock()
	if at := l.find(name, l.sent); at >= 0 { // else it was sent already, or is no more
		l.send(at, now)
		l.markStale()
	}
	l.mu.Unlock()
}

// send moves pending[at] to the end of those that were sent. The caller holds mu.
func (l *prefills) send(at int, now time.Time) {
	to := l.sent
	if to == 0 {
		l.since, l.mixed = now, l.others > 0
	}
	p := &l.pending[at]
	p.sent, p.ahead, p.shared = now, l.others+l.left(now), l.others > 0
	l.recent.add(p.tokens, now)
	if at > to {
		moved := *p
		copy(l.pending[to+1:at+1], l.pending[to:at])
		l.pending[to] = moved
	}
	l.sent++
}

// left returns how many tokens of the prompts that were sent are left to compute. The caller holds mu.
func (l *prefills) left(now time.Time) int {
	sent, head := l.sums()
	if sent == 0 {
		return 0
	}
	rate := l.measured()
	done := rate * max(0, now.Sub(l.begun(rate)).Seconds())
	return sent - int(min(done, float64(head)))
}

// sums returns the tokens of the prompts that were sent, and of these the ones up to and with the first prompt whose
// first token will be seen. The caller holds mu.
func (l *prefills) sums() (sent, head int) {
	headed := false
	for i := range l.pending[:l.sent] {
		p := &l.pending[i]
		sent += p.tokens
		if !headed {
			head, headed = sent, !p.whole
		}
	}
	return sent, head
}

// measured returns the rate; 0 is unknown. The caller holds mu.
func (l *prefills) measured() float64 {
	if l.rate.known() {
		if _, slope := l.rate.fit(); slope > 0 {
			return 1 / slope
		}
	}
	return 0
}

// begun returns from when the first that was sent is being computed at that rate: the engine computes what other
// gateways sent there before it first. The caller holds mu.
func (l *prefills) begun(rate float64) time.Time {
	if l.sent == 0 || rate <= 0 || !l.pending[0].shared {
		return l.since
	}
	first := &l.pending[0]
	if at := first.sent.Add(seconds(float64(first.ahead) / rate)); at.After(l.since) {
		return at
	}
	return l.since
}

// beside notes how many tokens other gateways have there to compute.
func (l *prefills) beside(tokens int) {
	l.mu.Lock()
	l.others = tokens
	l.mixed = l.mixed || tokens > 0
	l.mu.Unlock()
}

// find returns where a prompt is in pending, from a place on; -1 if it is not there. The caller holds mu.
func (l *prefills) find(name uint64, from int) int {
	for i := from; i < len(l.pending); i++ {
		if l.pending[i].name == name {
			return i
		}
	}
	return -1
}

// done notes that a prompt's first token came, and measures the rate.
func (l *prefills) done(name uint64, now time.Time) {
	l.mu.Lock()
	if at := l.find(name, 0); at >= 0 {
		if at < l.sent {
			l.measure(at, now)
		}
		l.removeAt(at)
	}
	l.mu.Unlock()
}

// drop removes a prompt whose first token will not be seen.
func (l *prefills) drop(name uint64) {
	l.mu.Lock()
	if at := l.find(name, 0); at >= 0 {
		l.removeAt(at)
	}
	l.mu.Unlock()
}

// removeAt removes pending[at]. The caller holds mu.
func (l *prefills) removeAt(at int) {
	if at < l.sent {
		l.sent--
	}
	last := len(l.pending) - 1
	if at < last {
		copy(l.pending[at:], l.pending[at+1:])
	}
	l.pending = l.pending[:last]
	l.markStale()
}

// markStale makes the next reader compute the view anew. The caller holds mu.
func (l *prefills) markStale() {
	if !l.stale.Load() {
		l.stale.Store(true)
	}
}

// measure notes that pending[at] is computed now, and with it all whole prompts before it: what that took since the
// last first token, or, if other gateways' prompts were computed meanwhile, since it was sent, with all that was ahead
// of it. The caller holds mu.
func (l *prefills) measure(at int, now time.Time) {
	tokens := l.pending[at].tokens
	for i := range l.pending[:at] {
		if p := &l.pending[i]; p.whole {
			tokens += p.tokens
			p.tokens = 0
		}
	}
	took := now.Sub(l.since)
	if p := &l.pending[at]; l.mixed { // the engine has computed others' prompts in between, when is not known
		tokens, took = p.ahead+p.tokens, now.Sub(p.sent)
	}
	l.rate.add(float64(tokens), max(0, took.Seconds()))
	l.since, l.mixed = now, l.others > 0
}

// publish computes the view for readers, and returns it. What an answer measures that ends between two prompts' steps,
// the next step shows.
func (l *prefills) publish(p *pace) *prefillView {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale.Store(false)
	rate := l.measured()
	s := &prefillView{rate: rate, since: l.begun(rate).UnixNano(), slowdown: read(&p.slowdown), life: read(&p.life),
		recent: l.recent}
	sent, head := l.sums()
	s.sent, s.head = float64(sent), float64(head)
	for i := range l.pending[l.sent:] {
		s.queued += float64(l.pending[l.sent+i].tokens)
	}
	l.view.Store(s)
	return s
}

func (l *prefills) work(w *Work, now int64, p *pace) {
	s := l.view.Load()
	if l.stale.Load() {
		s = l.publish(p)
	}
	if s == nil {
		*w = Work{}
		return
	}
	w.Tokens, w.Rate, w.Slowdown, w.Life = s.queued, s.rate, s.slowdown, s.life
	if s.sent > 0 {
		w.Tokens += s.sent - min(s.head, s.rate*1e-9*float64(max(0, now-s.since)))
	}
	left := s.recent.left(now)
	w.Recent.Tokens, w.Recent.Requests = s.recent.tokens*left, s.recent.requests*left
}
