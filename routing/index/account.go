package index

import "sync"

const (
	waitingShare = 4  // what waits takes at most a quarter of an account
	waitingKept  = 16 // the index leaves a sixteenth of it to what waits
)

// Account is one account of bytes for an index and for what waits to be told to it: together they never take more than
// its limit. An index gives little of its memory back, so it leaves a sixteenth of the limit to what waits; what waits
// takes a quarter at most, however empty the index is. Safe for concurrent use.
type Account struct {
	limit int64
	kept  int64 // that the index leaves to what waits; 0 where nothing does

	mu      sync.Mutex
	index   int64 // guarded by mu
	waiting int64 // guarded by mu
}

// NewAccount returns an account of limit bytes of which an index leaves some to what waits.
func NewAccount(limit int64) *Account { return &Account{limit: limit, kept: limit / waitingKept} }

// Share returns how many bytes may wait at most.
func (a *Account) Share() int64 { return a.limit / waitingShare }

// Wait charges n bytes for what waits. It reports false, and charges nothing, where that would be more than the part-th
// part of what may wait beside the index now: a part of 1 may take all of it, one of 2 leaves half of it to the others.
func (a *Account) Wait(n, part int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting+n > min(a.Share(), a.limit-a.index)/part {
		return false
	}
	a.waiting += n
	return true
}

// Release gives back n bytes of what waited.
func (a *Account) Release(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting -= n
}

// Waiting returns how many bytes wait now.
func (a *Account) Waiting() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting
}

// Limit returns how many bytes everything together may take.
func (a *Account) Limit() int64 { return a.limit }

// Used returns how many bytes the index has taken.
func (a *Account) Used() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.index
}

// Charge takes n bytes for the index, unless everything together would then be more than limit. A negative n gives
// bytes back, which always fits.
func (a *Account) Charge(n, limit int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > 0 && !a.fits(n, limit) {
		return false
	}
	a.index += n
	return true
}

// Fits returns true if the index may take n bytes more.
func (a *Account) Fits(n, limit int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fits(n, limit)
}

// fits is Fits for a caller that holds mu.
func (a *Account) fits(n, limit int64) bool { return a.index+n+max(a.waiting, a.kept) <= limit }
