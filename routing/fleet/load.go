package fleet

import (
	"math"
	"sync/atomic"
)

// Load is how busy a replica is.
type Load struct {
	InFlight   int     // requests of this gateway, and of those that tell it of theirs, that it is serving
	Waiting    int     // requests queued for it
	Backlog    int     // tokens to compute before the first tokens of these gateways' requests
	Tokens     int     // tokens, of prompts and answers, of these gateways' requests
	Running    int     // requests that its engine is batching
	Preempting int     // requests that have to give way at this moment
	KVUsage    float64 // share of its KV pool in use, 0 … 1
}

// occupancy is how busy a replica is: what it itself counts, and what its sources, its engine and other gateways tell.
type occupancy struct {
	ledger   ledger
	source   atomic.Pointer[func() Load]
	sampled  sampled
	prefills prefills
	queued   atomic.Pointer[Queued]
	reported atomic.Pointer[Reported]
	beside   atomic.Pointer[Beside] // nil if there is nothing
	besides  atomic.Uint64          // times that it was noted
	pace     pace
}

// ledger is what a replica itself counts. Its parts change together and are read apart: a reader may see a request that
// has left one of them and not yet the other.
type ledger struct {
	counts          atomic.Uint64 // a tally
	backlog, tokens atomic.Int64
}

// tally is three counts in one word, so that a request's step changes them together: requests in flight, requests
// waiting, and all events. The first two have room for four million each. The third wraps around after a million: a
// reader that compares it with its last value misses a change only if exactly a million came in between.
type tally uint64

const (
	oneInFlight tally = 1
	oneWaiting  tally = 1 << 22
	oneEvent    tally = 1 << 44
)

func (c tally) inFlight() int { return int(c % oneWaiting) }
func (c tally) waiting() int  { return int(c % oneEvent / oneWaiting) }
func (c tally) events() tally { return c / oneEvent }

func (l *ledger) now() tally            { return tally(l.counts.Load()) }
func (l *ledger) change(by tally) tally { return tally(l.counts.Add(uint64(by))) }

// sampled is what a source last said, kept until something happens at the replica.
type sampled struct {
	// the ledger's events when the source was asked last, plus 1
	upTo                         atomic.Uint64
	blocks                       float64       // of the replica's pool
	kvUsage                      atomic.Uint64 // bits of float64
	waiting, running, preempting atomic.Int64
	ask                          atomic.Pointer[func() Load] // nil: there is no source to sample
}

// refresh asks the source anew if something happened since. A reader in between sees parts of two answers, each of them
// recent.
func (o *occupancy) refresh() {
	s, now := &o.sampled, uint64(o.ledger.now().events())+1
	if s.upTo.Load() == now {
		return
	}
	ask := s.ask.Load()
	if ask == nil {
		return
	}
	l := (*ask)()
	note(&s.waiting, l.Waiting)
	note(&s.running, l.Running)
	note(&s.preempting, l.Preempting)
	if usage := math.Float64bits(l.KVUsage); s.kvUsage.Load() != usage {
		s.kvUsage.Store(usage)
	}
	s.upTo.Store(now)
}

// note stores n where it is news: a store costs as much as twenty loads.
func note(at *atomic.Int64, n int) {
	if at.Load() != int64(n) {
		at.Store(int64(n))
	}
}

// LoadFrom sets where Load comes from, each time that it is asked: something cheap that many goroutines may call. What
// the replica itself counts, InFlight, Backlog and Tokens, is not taken from there, and its Waiting is in addition to
// the replica's own.
func (o *occupancy) LoadFrom(source func() Load) { o.source.Store(&source) }

// SampleFrom is LoadFrom for a source that only changes when something of this gateway's happens at the replica: it is
// asked again after a Flight went on, a Begin, an End or a report, and not for each request that looks at the replica.
func (o *occupancy) SampleFrom(source func() Load) {
	o.sampled.ask.Store(&source)
	o.ledger.change(oneEvent)
}

// Queued is what Queue asks of a source: requests queued for a replica beside those that it counts itself, and whether
// any has to give way.
type Queued func() (waiting int, preempting bool)

// QueueFrom has Queue ask this source alone, each time: two loads, where the one of Load may take a lock. Both must say
// the same.
func (o *occupancy) QueueFrom(source Queued) { o.queued.Store(&source) }

// Load returns how busy the replica is: its source's answer, with what the replica itself counts.
func (o *occupancy) Load() (l Load) {
	if source := o.source.Load(); source != nil {
		l = (*source)()
	} else {
		o.refresh()
		s := &o.sampled
		l.Waiting, l.Running, l.Preempting = int(s.waiting.Load()), int(s.running.Load()), int(s.preempting.Load())
		l.KVUsage = math.Float64frombits(s.kvUsage.Load())
	}
	l.InFlight, l.Backlog, l.Tokens = o.InFlight(), o.Backlog(), o.Tokens()
	l.Waiting += o.waiting()
	return l
}

// Turnover returns how often the used part of the replica's pool must be given back before a request finds room for so
// many blocks behind those that wait, taken to be as large. It is 0 if there is room now, or if the pool's size or use
// is unknown. Used blocks are given back within a mean request's life, so the request waits for that many lives.
func (o *occupancy) Turnover(need float64) float64 {
	all := o.sampled.blocks
	usage, waiting := o.memory()
	used, queue := usage*all, float64(waiting+o.waiting())+1
	short := queue*need - (all - used)
	if short <= 0 || used <= 0 {
		return 0
	}
	return min(short/used, queue) // what is reported may be wrong: one life at most for each request before it
}

// memory returns Load's KVUsage, and its Waiting without what the replica itself counts.
func (o *occupancy) memory() (usage float64, waiting int) {
	if source := o.source.Load(); source != nil {
		l := (*source)()
		return l.KVUsage, l.Waiting
	}
	o.refresh()
	return math.Float64frombits(o.sampled.kvUsage.Load()), int(o.sampled.waiting.Load())
}

// Queue returns the requests in flight and waiting, and whether any has to give way: of Load, what is asked for most.
func (o *occupancy) Queue() (requests int, preempting bool) {
	source := o.queued.Load()
	if source == nil {
		l := o.Load()
		return l.InFlight + l.Waiting, l.Preempting > 0
	}
	others, preempting := (*source)()
	counts := o.ledger.now()
	others += counts.inFlight() + counts.waiting()
	if b := o.beside.Load(); b != nil {
		others += b.Running + b.Waiting
	}
	return others, preempting
}

// waiting returns the requests that wait for the replica at this gateway and at others.
func (o *occupancy) waiting() int {
	n := o.ledger.now().waiting()
	if b := o.beside.Load(); b != nil {
		n += b.Waiting
	}
	return n
}

// InFlight returns the number of requests between Begin and End, and of other gateways' that are in the replica's
// batch.
func (o *occupancy) InFlight() int {
	n := o.ledger.now().inFlight()
	if b := o.beside.Load(); b != nil {
		n += b.Running
	}
	return n
}

// Backlog returns the tokens that have to be computed for requests on their way to the replica or in it, before their
// first tokens.
func (o *occupancy) Backlog() int {
	n := int(o.ledger.backlog.Load())
	if b := o.beside.Load(); b != nil {
		n += b.Backlog
	}
	return n
}

// Tokens returns the tokens, of prompts and answers, of the requests on their way to the replica or in it.
func (o *occupancy) Tokens() int {
	n := int(o.ledger.tokens.Load())
	if b := o.beside.Load(); b != nil {
		n += b.Tokens
	}
	return n
}

// Pace returns how fast the replica was lately.
func (o *occupancy) Pace() Pace { return o.pace.load() }
