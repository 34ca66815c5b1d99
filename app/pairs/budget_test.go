package pairs

import "time"

// toTomorrow reports whether a refusal tells the seconds that are left of the day, as one of a budget does.
func (c *cell) toTomorrow(a *answer, seconds int) bool {
	left := a.at.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(a.at)
	return c.has("budget") && a.code == "quota_exceeded" && time.Duration(seconds)*time.Second-left.Abs() <= time.Minute
}
