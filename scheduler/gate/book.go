package gate

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// Book is the requests that were refused by one crowd of engines, were told when to come back, and have not come yet.
// What they were told are reservations of places to come, given out in the order of departures, so that a crowd comes
// back as places come free:
//
//	t₀ + after        + every        + every         …
//	   first ▲   second ▲     third ▲                    each behind the reservations that are as urgent
//
// A part of the clients never comes back, and that part is measured: so many more are told the same time. A request
// that comes in its time may take what Gates reserve for it, see Config.Promised; one that does not loses its place
// soon after, and an engine's free place is never kept empty while a request asks for it. The zero value is not ready.
// Safe for concurrent use; pure: the time is the caller's.
type Book struct {
	away atomic.Int64 // reservations that are open, to be read without the lock

	bookMu  sync.Mutex // guards all below; taken under a Gate's lock, and no lock is taken under it
	grain   time.Duration
	open    map[uint64]*queue.Heap[twin] // by identity, the earliest due first; none is empty
	lapsing queue.Heap[*reservation]
	levels  []away // highest priority first
	kept    float64
	seen    float64
}

// away counts the open reservations of one priority.
type away struct{ priority, count int }

// reservation is one time that was told.
type reservation struct {
	id       uint64
	priority int
	first    time.Time // when this request was first sent away
	due      time.Time
	lapses   time.Time
	told     time.Duration
	at       int // in Book.lapsing
	among    int // its twins
}

func (p *reservation) HeapIndex() *int { return &p.at }

// twin is a reservation among those of one identity.
type twin struct{ *reservation }

func (t twin) HeapIndex() *int { return &t.among }

// Caller identifies a request that comes back. Two that look alike are twins: either may take the other's place.
type Caller struct {
	ID    uint64
	Exact bool // it is one request, and not one of several that look alike: coming early it keeps the place that it has
}

// Sent is a request that is refused with a time.
type Sent struct {
	Caller
	Priority int
	After    time.Duration // when the next place is due without other reservations; 0 is unknown
	Every    time.Duration // between places after that; 0 is unknown
	Room     int           // places to wait in
	Keep     time.Duration // for which it is remembered beyond its time; 0 is by that time
}

const (
	// mostPromises bounds what a Book remembers; a request beyond that is told a time and not remembered.
	mostPromises = 1 << 16
	// longestPromise bounds what a Book tells.
	longestPromise = 10 * time.Minute
	// comesBack is the part of the clients that is assumed to come back before any has; after about bookMemory of them
	// it is as measured.
	comesBack  = 0.85
	bookMemory = 32
	// leastKept bounds how many are told one time.
	leastKept = 0.1
	// lapseShare is the part of the time that was told for which a promise outlives it, within lapseLeast and
	// lapseMost.
	lapseShare = 8
	lapseLeast = 250 * time.Millisecond
	lapseMost  = 5 * time.Second
)

// NewBook returns a Book that tells times in whole grains; 0 is exactly.
func NewBook(grain time.Duration) *Book {
	return &Book{grain: grain, open: map[uint64]*queue.Heap[twin]{}, kept: comesBack * bookMemory / 4,
		seen: bookMemory / 4}
}

// Away returns how many reservations are open, at most: those whose time has lapsed may still count. It takes no lock.
func (b *Book) Away() int { return int(b.away.Load()) }

// Expected returns how many requests are expected back that are at least as urgent as priority.
func (b *Book) Expected(priority int, now time.Time) float64 {
	if b.away.Load() == 0 {
		return 0
	}
	b.bookMu.Lock()
	defer b.bookMu.Unlock()
	b.lapse(now)
	return b.expected(priority)
}

func (b *Book) expected(priority int) float64 {
	n := 0
	for _, l := range b.levels {
		if l.priority < priority {
			break
		}
		n += l.count
	}
	return float64(n) * b.share()
}

// share is the part of the reservations that is claimed.
func (b *Book) share() float64 { return max(leastKept, b.kept/b.seen) }

// Tell notes that s is sent away, and returns when it is to come back: never before another one that is as urgent and
// was sent away earlier. first is when it was sent away for the first time; 0 of After is 0.
func (b *Book) Tell(s *Sent, first, now time.Time) time.Duration {
	if s.After <= 0 {
		return 0
	}
	b.bookMu.Lock()
	defer b.bookMu.Unlock()
	b.lapse(now)
	if p := b.earliest(s.ID); p != nil && s.Exact && p.due.After(now) {
		return b.grains(p.due.Sub(now))
	}
	ahead := b.expected(s.Priority)
	spare := min(float64(s.Room)/reservedShare, ahead/2)
	wait := s.After + scheduler.Nanos(float64(s.Every)*(ahead+spare)*(1+stretch))
	told := b.grains(min(wait, longestPromise))
	if b.lapsing.Len() < mostPromises {
		b.note(&reservation{id: s.ID, priority: s.Priority, first: first, due: now.Add(told), told: told, at: -1,
			among: -1}, s.Keep)
	}
	return told
}

// stretch is by how much places are told later than they are due: an estimate that is a little short would send all
// away twice.
const stretch = 1.0 / 32

// grains rounds d up.
func (b *Book) grains(d time.Duration) time.Duration {
	if b.grain > 0 {
		d = (d + b.grain - 1) / b.grain * b.grain
	}
	return d
}

// note opens p, for keep beyond its time.
func (b *Book) note(p *reservation, keep time.Duration) {
	p.lapses = p.due.Add(cmp.Or(keep, min(max(p.told/lapseShare, lapseLeast), lapseMost)))
	b.lapsing.Push(queue.Rank{Arrival: scheduler.Time(p.lapses.UnixNano()), ID: p.id}, p)
	if b.open[p.id] == nil {
		b.open[p.id] = new(queue.Heap[twin])
	}
	b.open[p.id].Push(queue.Rank{Arrival: scheduler.Time(p.due.UnixNano()), ID: uint64(b.away.Load())}, twin{p})
	b.count(p.priority, 1)
	b.away.Add(1)
}

// earliest returns the first reservation of an identity that is due; nil if there are no more.
func (b *Book) earliest(id uint64) *reservation {
	if twins := b.open[id]; twins != nil {
		return twins.Top().reservation
	}
	return nil
}

// Come reports whether c comes in the time that it was told, and claims its reservation then.
func (b *Book) Come(c Caller, now time.Time) bool {
	if b.away.Load() == 0 {
		return false
	}
	b.bookMu.Lock()
	defer b.bookMu.Unlock()
	b.lapse(now)
	p := b.earliest(c.ID)
	if p == nil || p.due.Sub(now) > min(b.grain/4, p.told/16) {
		return false
	}
	b.close(p)
	b.learn(1)
	return true
}

// Since returns since when c has been refused again and again; now if that is not known.
func (b *Book) Since(c Caller, now time.Time) time.Time {
	if b.away.Load() == 0 {
		return now
	}
	b.bookMu.Lock()
	defer b.bookMu.Unlock()
	b.lapse(now)
	if p := b.earliest(c.ID); p != nil {
		return p.first
	}
	return now
}

// Served forgets the reservation of c if it is one request that came early and was served: its place is free.
func (b *Book) Served(c Caller) {
	if b.away.Load() == 0 || !c.Exact {
		return
	}
	b.bookMu.Lock()
	defer b.bookMu.Unlock()
	if p := b.earliest(c.ID); p != nil {
		b.close(p)
	}
}

// lapse closes the reservations whose time is over.
func (b *Book) lapse(now time.Time) {
	for b.lapsing.Len() > 0 && !b.lapsing.Top().lapses.After(now) {
		b.close(b.lapsing.Top())
		b.learn(0)
	}
}

// learn counts one reservation that was claimed (1) or lapsed (0).
func (b *Book) learn(came float64) {
	const fades = 1 - 1.0/bookMemory
	b.kept, b.seen = b.kept*fades+came, b.seen*fades+1
}

func (b *Book) close(p *reservation) {
	b.lapsing.Remove(p)
	twins := b.open[p.id]
	if twins.Remove(twin{p}); twins.Len() == 0 {
		delete(b.open, p.id)
	}
	b.count(p.priority, -1)
	b.away.Add(-1)
}

// count adds n to the open reservations of priority.
func (b *Book) count(priority, n int) {
	i := 0
	for i < len(b.levels) && b.levels[i].priority > priority {
		i++
	}
	if i == len(b.levels) || b.levels[i].priority != priority {
		b.levels = append(b.levels, away{})
		copy(b.levels[i+1:], b.levels[i:])
		b.levels[i] = away{priority: priority}
	}
	b.levels[i].count += n
}
