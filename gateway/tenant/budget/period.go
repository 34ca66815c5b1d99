package budget

import "time"

// span is a kind of period.
type span uint8

const (
	day span = iota
	month
	spans
)

func (s span) String() string { return [spans]string{"day", "month"}[s] }

// of returns the number of the period that a time lies in.
func (s span) of(at time.Time) int64 {
	year, m, d := at.UTC().Date()
	if s == month {
		return int64(year)*12 + int64(m) - 1
	}
	return time.Date(year, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// start returns when the period of a number begins.
func (s span) start(period int64) time.Time {
	if s == month {
		return time.Date(int(period/12), time.Month(period%12+1), 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(period*24*60*60, 0).UTC()
}

// count is what was used of one period: what all gateways are known to have used, and what this one has beside it.
// Without other gateways all of it is own.
// heard is the part of own that gateways have told of which count for themselves.
type count struct{ period, known, own, heard int64 }

func (c *count) used() int64 { return max(c.known+c.own, 0) }

// fits reports whether n more are within limit, where the own count may be a part of what is left.
func (c *count) fits(n, limit int64, parts int) bool {
	return limit <= 0 || c.own+n <= (limit-c.known)/int64(max(parts, 1))
}

// meter has the counts of the two periods that were used last, the last one first.
type meter [2]count

// at returns the count of a period. A period that is not kept begins at zero, and the one that was not used for longer
// is forgotten.
func (m *meter) at(period int64) *count {
	switch period {
	case m[0].period:
	case m[1].period:
		m[0], m[1] = m[1], m[0]
	default:
		m[0], m[1] = count{period: period}, m[0]
	}
	return &m[0]
}

// has reports whether the count of a period is kept.
func (m *meter) has(period int64) bool { return m[0].period == period || m[1].period == period }
