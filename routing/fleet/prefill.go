package fleet

import (
	"slices"
	"sync"
	"time"
)

// Work is what a replica has yet to prefill for requests on their way to it or in it.
type Work struct {
	Tokens float64 // uncached prompt tokens, less what must be computed by now at Rate
	Rate   float64 // prompt tokens a second, measured while there were any to compute; 0 is unknown
}

// Work returns what r has yet to prefill before a request that is sent there at now. It costs one pass over the prompts whose
// first token is to come. Unlike Backlog it knows that a long prompt that began long ago is nearly done.
func (r *Replica) Work(now time.Time) Work { return r.prefills.work(now) }

// prefills is the prompts of one replica without a first token, in the order in which they were sent, which is the order in
// which engines compute them.
type prefills struct {
	mu      sync.Mutex
	open    []*prefill // guarded by mu, with what it points to
	since   time.Time  // from when the first that was sent is being computed; guarded by mu
	tokens  float64    // computed lately, fading; guarded by mu
	seconds float64    // that they took, fading; guarded by mu
	seen    int        // first tokens; guarded by mu
}

// prefill is one of them.
type prefill struct {
	tokens int  // to compute
	sent   bool // the engine has it
	whole  bool // nobody sees its first token: it is done when its time is over, or when a later one's first token comes
}

const (
	prefillMemory  = 1 - 1.0/64 // what is left of a measurement after a further one
	prefillSamples = 4          // first tokens that make a rate known
)

// route enters a prompt before it is sent.
func (l *prefills) route(d Demand) *prefill {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &prefill{tokens: d.Uncached, whole: d.Whole}
	l.open = append(l.open, p)
	return p
}

// begin says that p was sent: behind all that were, before all that were not.
func (l *prefills) begin(p *prefill, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.open, p)
	if at < 0 || p.sent {
		return
	}
	p.sent = true
	l.open = slices.Delete(l.open, at, at+1)
	at = l.sent()
	if at == 0 {
		l.since = now
	}
	l.open = slices.Insert(l.open, at, p)
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
	l.open = slices.Delete(l.open, at, at+1)
}

// drop says that p's first token will not be seen.
func (l *prefills) drop(p *prefill) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.open, p); at >= 0 {
		l.open = slices.Delete(l.open, at, at+1)
	}
}

// sent returns how many of open were sent. It needs l.mu.
func (l *prefills) sent() int {
	at := slices.IndexFunc(l.open, func(p *prefill) bool { return !p.sent })
	if at < 0 {
		return len(l.open)
	}
	return at
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
	l.tokens = l.tokens*prefillMemory + float64(tokens)
	l.seconds = l.seconds*prefillMemory + max(0, now.Sub(l.since).Seconds())
	l.seen++
	l.since = now
}

func (l *prefills) work(now time.Time) (w Work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen >= prefillSamples && l.seconds > 0 {
		w.Rate = l.tokens / l.seconds
	}
	if len(l.open) == 0 {
		return w
	}
	done := w.Rate * max(0, now.Sub(l.since).Seconds())
	for _, p := range l.open {
		left := float64(p.tokens)
		if p.sent {
			left = max(0, left-done)
			done -= float64(p.tokens) - left
		}
		w.Tokens += left
	}
	return w
}
