package fleet

import (
	"slices"
	"sort"
	"sync"
	"time"

	"octet/kvpool"
)

// Work is what a replica has yet to prefill before a request that comes now: what this gateway sent there and has not seen
// the first token of.
type Work struct {
	Tokens float64 // uncached prompt tokens, less what must be computed by now at the measured rate
	Rate   float64 // prompt tokens a second, measured while there was work; 0 is unknown
	Open   int     // prompts
	Shared int     // leading blocks of the asker's chain that open prompts bring into the replica's cache
}

// Prefill is a prompt on its way to its first token. It counts in its replica's Work until Done or Dropped.
type Prefill struct {
	ledger *prefills
	chain  []kvpool.BlockHash
	tokens int  // to compute
	whole  bool // nobody sees its first token
}

// Expect counts a prompt in, of which tokens are to be computed: the rest is cached. Its chain must not change until the
// Prefill has ended. Of an answer that comes whole nobody sees the first token: its prompt counts as computed
// when its time is over, or when a later one's first token has come.
func (r *Replica) Expect(tokens int, chain []kvpool.BlockHash, whole bool) *Prefill {
	l := &r.prefills
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == 0 {
		l.since = l.now()
	}
	p := &Prefill{ledger: l, chain: chain, tokens: max(tokens, 1), whole: whole}
	l.open = append(l.open, p)
	return p
}

// Done says that the prompt is computed: its first token came. It feeds the measured rate. Idempotent, as is Drop, and
// nothing after the other.
func (p *Prefill) Done() { p.ledger.end(p, true) }

// Drop says that the prompt will not be computed, or that nobody knows when it was.
func (p *Prefill) Drop() { p.ledger.end(p, false) }

// Work returns what r has yet to prefill before a request with this chain. It costs one pass over the open prompts.
func (r *Replica) Work(chain []kvpool.BlockHash) Work { return r.prefills.work(chain) }

// prefills is the open prompts of one replica, in the order in which they were sent, which is the order in which engines
// compute them.
type prefills struct {
	now func() time.Time

	mu      sync.Mutex
	open    []*Prefill // guarded by mu
	since   time.Time  // from when the first of open is being computed; guarded by mu
	tokens  float64    // computed lately, fading; guarded by mu
	seconds float64    // that they took, fading; guarded by mu
	seen    int        // first tokens; guarded by mu
}

// fade is how much of a measurement is left after each further one: about the last 64 first tokens count.
const fade = 1 - 1.0/64

// rateSamples is how many first tokens make a rate known.
const rateSamples = 4

func (l *prefills) end(p *Prefill, computed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.open, p)
	if at < 0 {
		return
	}
	if computed {
		l.measure(at)
	}
	l.open = slices.Delete(l.open, at, at+1)
	p.chain = nil
	if at == 0 && !computed {
		l.since = l.now() // whatever was done of it, the next begins now
	}
}

// measure notes that open[at] is computed now, and with it what went before it unseen.
func (l *prefills) measure(at int) {
	now, tokens := l.now(), l.open[at].tokens
	for _, p := range l.open[:at] {
		if p.whole {
			tokens += p.tokens
			p.tokens = 0
		}
	}
	l.tokens = l.tokens*fade + float64(tokens)
	l.seconds = l.seconds*fade + now.Sub(l.since).Seconds()
	l.seen++
	l.since = now
}

// rate needs l.mu.
func (l *prefills) rate() float64 {
	if l.seen < rateSamples || l.seconds <= 0 {
		return 0
	}
	return l.tokens / l.seconds
}

func (l *prefills) work(chain []kvpool.BlockHash) Work {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := Work{Rate: l.rate(), Open: len(l.open)}
	if w.Open == 0 {
		return w
	}
	done := w.Rate * max(0, l.now().Sub(l.since).Seconds())
	for _, p := range l.open {
		left := max(0, float64(p.tokens)-done)
		done -= float64(p.tokens) - left
		w.Tokens += left
		w.Shared = max(w.Shared, common(p.chain, chain))
	}
	return w
}

// common returns how many leading blocks two chains share. Hashes are cumulative: where they differ once they differ from
// there on.
func common(a, b []kvpool.BlockHash) int {
	return sort.Search(min(len(a), len(b)), func(i int) bool { return a[i] != b[i] })
}
