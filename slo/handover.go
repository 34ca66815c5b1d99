package slo

import "time"

// HandOver makes to, which nothing uses yet, what l is, and has it get all that l is told from then on: a verdict
// counts once, whichever of the two it is given to, and whenever.
func (l *Breaker) HandOver(to *Breaker, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = to.Restore(l.saved(now), now) // saved just now: it can be restored
	l.heir = to
}

// current locks the Breaker that counts what l is told, and returns it: l, or the last that it was handed over to.
func (l *Breaker) current() *Breaker {
	l.mu.Lock()
	for l.heir != nil {
		heir := l.heir
		l.mu.Unlock()
		l = heir
		l.mu.Lock()
	}
	return l
}
