package budget

import (
	"strconv"
	"time"
)

// Usage is what an account has used.
type Usage struct {
	Day, Month Used
	Shared     bool // of all gateways
	Stale      bool // their count could not be had: it is what was known last, and this gateway's own since
}

// Used is the count of one period.
type Used struct {
	Starts, Resets time.Time
	Tokens         int64
}

// Usage returns what was used of the day and the month of now.
func (a *Account) Usage(now time.Time) Usage {
	if a.shared != nil {
		a.ask(now, 0, Limits{})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var used [spans]Used
	for s := range spans {
		c := a.meters[s].at(s.of(now))
		used[s] = Used{s.start(c.period), s.start(c.period + 1), c.used()}
	}
	return Usage{Day: used[day], Month: used[month], Shared: a.shared != nil, Stale: a.away}
}

// lasts is how long the count of all gateways keeps a period after it was used: beyond its end, for answers that came
// in it.
var lasts = [spans]time.Duration{3 * 24 * time.Hour, 40 * 24 * time.Hour}

// key names the count of a period. The braces have a cluster keep those of a tenant in one place.
func key(tenant string, s span, period int64) string {
	layout := [spans]string{time.DateOnly, "2006-01"}[s]
	return "budget:{" + strconv.Quote(tenant) + "}:" + s.start(period).Format(layout)
}
