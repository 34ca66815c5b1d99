package peering

import "time"

// lapsed is how many gateways' leases were over since a message of any came. Where all fall silent together it may be
// the store that is away, which its claim tells a little later: then they are as many as there were.
type lapsed struct {
	gateways int
	at       time.Time // of the last one
}

func (l *lapsed) add(n int, now time.Time) {
	if n > 0 {
		l.gateways, l.at = l.gateways+n, now
	}
}

// within returns how many have lapsed, if the last one was no longer ago than a lease.
func (l *lapsed) within(lease time.Duration, now time.Time) int {
	if now.Sub(l.at) > lease {
		return 0
	}
	return l.gateways
}
