package fleet

import (
	"sync/atomic"
	"time"
)

// A replica that refuses a request as one too many is busy for as long as it says, at least leastBusy, and twice as
// long each time that it says so without having answered any, up to mostBusy.
const (
	leastBusy = time.Second
	mostBusy  = 32 * time.Second
)

// busy is when a replica last said that it takes no more requests.
type busy struct {
	until atomic.Int64 // unix nanoseconds; 0 is not busy
	times atomic.Int64 // since the last answer
}

// OnBusy notes that the replica refused a request because it has no room, and asked to be left alone for a time; 0 is
// unknown.
func (b *busy) OnBusy(now time.Time, after time.Duration) {
	if b.Busy(now) {
		return
	}
	times := b.times.Add(1)
	again := min(leastBusy<<min(times-1, 5), mostBusy)
	b.until.Store(now.Add(max(after, again)).UnixNano())
}

// Busy returns true if the replica has said lately that it takes no more requests.
func (b *busy) Busy(now time.Time) bool {
	until := b.until.Load()
	return until != 0 && now.UnixNano() < until
}

// clear notes that the replica is not busy any more.
func (b *busy) clear() {
	if b.times.Load() != 0 {
		b.times.Store(0)
		b.until.Store(0)
	}
}
