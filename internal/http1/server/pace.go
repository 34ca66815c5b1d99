package server

import "time"

// Pace is how often places become free, measured where they do. The zero Pace knows nothing. Its owner guards it.
type Pace struct {
	last  time.Time
	every time.Duration // between two, an average that weighs the last by an eighth
}

// Freed notes that a place has become free.
func (p *Pace) Freed(now time.Time) {
	if !p.last.IsZero() {
		gap := now.Sub(p.last)
		if p.every == 0 {
			p.every = gap
		}
		p.every += (gap - p.every) / 8
	}
	p.last = now
}

// Wait returns how long it takes until the next place is free, a second at least; zero if that is unknown. While none
// becomes free it grows.
func (p *Pace) Wait(now time.Time) time.Duration {
	if p.every == 0 {
		return 0
	}
	return max(p.every, now.Sub(p.last), time.Second)
}
