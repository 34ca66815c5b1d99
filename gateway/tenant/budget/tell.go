package budget

import (
	"maps"
	"slices"
	"time"
)

// Tell tells the count of all gateways what accounts owe it: what was counted without asking, and what could not be
// asked for. It ends with the first question that fails. Without other gateways it does nothing.
func (l *Ledger) Tell() {
	if l.shared == nil {
		return
	}
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.accounts))
	l.mu.Unlock()
	for _, a := range all {
		for _, at := range a.owing() {
			if said, _ := a.ask(at, 0, Limits{}); !said {
				return
			}
		}
	}
}

// owing returns a time in each day, of those that are kept, of which something is owed, or of whose month; the day that
// was used last comes last, and so stays the one that was.
func (a *Account) owing() (times []time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range slices.Backward(a.meters[day][:]) {
		at := day.start(d.period)
		of := func(c count) bool { return c.period == month.of(at) && c.own != 0 }
		if d.own != 0 || slices.ContainsFunc(a.meters[month][:], of) {
			times = append(times, at)
		}
	}
	return times
}
