package runs

import (
	"slices"

	"octet/routing/index"
)

// gaps appends the stretches of [from, to) that nobody holds.
func (s *shape) gaps(from, to int, dst []stretch) []stretch {
	if !s.full.Empty() {
		return dst
	}
	for _, p := range s.parts {
		from = max(from, int(p.reach))
	}
	for from < to {
		if end := s.isleEnd(from); end > from {
			from = end
			continue
		}
		next := s.nextIsle(from, to)
		dst = append(dst, stretch{from, next})
		from = next
	}
	return dst
}

// isleEnd returns the farthest end of an isle that covers block at, at when there is none.
func (s *shape) isleEnd(at int) (end int) {
	end = at
	for _, i := range s.isles {
		if int(i.from) <= at {
			end = max(end, int(i.to))
		}
	}
	return end
}

// nextIsle returns where the first isle after at begins, to when there is none before that.
func (s *shape) nextIsle(at, to int) int {
	for _, i := range s.isles {
		if int(i.from) > at {
			to = min(to, int(i.from))
		}
	}
	return to
}

// cut leaves s the first at blocks, 0 < at < len, and makes tail the shape of the others.
func (s *shape) cut(at int, tail *shape) {
	tail.len, tail.full = s.len-at, s.full
	tail.parts, tail.isles = tail.parts[:0], tail.isles[:0]
	parts, isles := s.parts, s.isles
	s.len, s.parts, s.isles = at, s.parts[:0], s.isles[:0]
	for _, p := range parts {
		if int(p.reach) < at {
			s.parts = append(s.parts, p)
			continue
		}
		s.full.Set(p.host)
		if int(p.reach) > at {
			tail.parts = append(tail.parts, part{p.host, p.reach - uint16(at)})
		}
	}
	for _, i := range isles {
		if int(i.from) < at {
			s.isles = append(s.isles, isle{i.host, i.from, min(i.to, uint16(at))})
		}
		switch {
		case int(i.to) <= at:
		case int(i.from) <= at:
			tail.setReach(i.host, int(i.to)-at)
		default:
			tail.isles = append(tail.isles, isle{i.host, i.from - uint16(at), i.to - uint16(at)})
		}
	}
}

// grow adds n blocks that only h, which held all before them, holds.
func (s *shape) grow(h index.HostID, n int) {
	for other := range s.full.All() {
		if other != h {
			s.parts = append(s.parts, part{other, uint16(s.len)})
		}
	}
	s.len += n
	s.full = index.HostSet(h)
}

// trim leaves s its first n blocks; nobody holds the others.
func (s *shape) trim(n int) {
	s.len = n
	s.parts = slices.DeleteFunc(s.parts, func(p part) bool {
		if int(p.reach) == n {
			s.full.Set(p.host)
		}
		return int(p.reach) == n
	})
}

// truncate forgets what anybody holds from block n on, leaves s its first n blocks and counts in lost.
func (s *shape) truncate(n int, lost *[index.MaxHosts]int) {
	holders := s.full
	for _, p := range s.parts {
		holders.Set(p.host)
	}
	for _, i := range s.isles {
		holders.Set(i.host)
	}
	for h := range holders.All() {
		lost[h] += s.drop(h, n, s.len)
	}
	s.trim(n)
}

// crowded reports whether s is too much for one run's header.
func (s *shape) crowded() bool { return len(s.parts) > maxParts || len(s.isles) > maxIsles }

// middle returns where to cut a crowded s so that both sides are less so.
func (s *shape) middle() int {
	var bounds [index.MaxHosts + maxIsles + 2]uint16
	at := bounds[:0]
	if len(s.parts) > maxParts {
		for _, p := range s.parts {
			at = append(at, p.reach)
		}
	} else {
		for _, i := range s.isles {
			at = append(at, i.from)
		}
	}
	slices.Sort(at)
	return int(at[len(at)/2])
}
