package runs

import (
	"slices"

	"octet/routing/index"
)

// gaps appends the stretches of [from, to) without a holder.
func (s *holders) gaps(from, to int, dst []span) []span {
	if !s.full.Empty() {
		return dst
	}
	for _, p := range s.prefixes {
		from = max(from, int(p.reach))
	}
	for from < to {
		if end := s.fragmentEnd(from); end > from {
			from = end
			continue
		}
		next := s.nextFragment(from, to)
		dst = append(dst, span{from, next})
		from = next
	}
	return dst
}

// fragmentEnd returns the farthest end of a fragment that covers block at, or at itself.
func (s *holders) fragmentEnd(at int) (end int) {
	end = at
	for _, i := range s.fragments {
		if int(i.from) <= at {
			end = max(end, int(i.to))
		}
	}
	return end
}

// nextFragment returns where the first fragment after at begins, to if none begins before that.
func (s *holders) nextFragment(at, to int) int {
	for _, i := range s.fragments {
		if int(i.from) > at {
			to = min(to, int(i.from))
		}
	}
	return to
}

// cut leaves s the first at blocks, 0 < at < len, and makes tail the holders of the others.
func (s *holders) cut(at int, tail *holders) {
	tail.len, tail.full = s.len-at, s.full
	tail.prefixes, tail.fragments = tail.prefixes[:0], tail.fragments[:0]
	parts, isles := s.prefixes, s.fragments
	s.len, s.prefixes, s.fragments = at, s.prefixes[:0], s.fragments[:0]
	for _, p := range parts {
		if int(p.reach) < at {
			s.prefixes = append(s.prefixes, p)
			continue
		}
		s.full.Set(p.host)
		if int(p.reach) > at {
			tail.prefixes = append(tail.prefixes, prefix{p.host, p.reach - uint16(at)})
		}
	}
	for _, i := range isles {
		if int(i.from) < at {
			s.fragments = append(s.fragments, fragment{i.host, i.from, min(i.to, uint16(at))})
		}
		switch {
		case int(i.to) <= at:
		case int(i.from) <= at:
			tail.setReach(i.host, int(i.to)-at)
		default:
			tail.fragments = append(tail.fragments, fragment{i.host, i.from - uint16(at), i.to - uint16(at)})
		}
	}
}

// grow adds n blocks that only h, which held all before them, holds.
func (s *holders) grow(h index.HostID, n int) {
	for other := range s.full.All() {
		if other != h {
			s.prefixes = append(s.prefixes, prefix{other, uint16(s.len)})
		}
	}
	s.len += n
	s.full = index.HostSet(h)
}

// trim leaves s its first n blocks. The others have no holder.
func (s *holders) trim(n int) {
	s.len = n
	s.prefixes = slices.DeleteFunc(s.prefixes, func(p prefix) bool {
		if int(p.reach) == n {
			s.full.Set(p.host)
		}
		return int(p.reach) == n
	})
}

// truncate drops all blocks from n on, leaves s its first n blocks and adds to lost.
func (s *holders) truncate(n int, lost *[index.MaxHosts]int) {
	holders := s.full
	for _, p := range s.prefixes {
		holders.Set(p.host)
	}
	for _, i := range s.fragments {
		holders.Set(i.host)
	}
	for h := range holders.All() {
		lost[h] += s.drop(h, n, s.len)
	}
	s.trim(n)
}

// crowded returns true if s is too much for one header.
func (s *holders) crowded() bool {
	return len(s.prefixes) > maxPrefixes || len(s.fragments) > maxFragments
}

// middle returns where to cut a crowded s so that both sides are less so.
func (s *holders) middle() int {
	var bounds [index.MaxHosts + maxFragments + 2]uint16
	at := bounds[:0]
	if len(s.prefixes) > maxPrefixes {
		for _, p := range s.prefixes {
			at = append(at, p.reach)
		}
	} else {
		for _, i := range s.fragments {
			at = append(at, i.from)
		}
	}
	slices.Sort(at)
	return int(at[len(at)/2])
}
