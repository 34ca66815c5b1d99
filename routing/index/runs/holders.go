package runs

import (
	"slices"

	"octet/routing/index"
)

// prefix is a replica that holds a run's first reach blocks, but not all of it.
type prefix struct {
	host  index.HostID
	reach uint16 // 0 < reach < the run's length
}

// fragment is a stretch of a run that a replica holds without the block before it.
type fragment struct {
	host     index.HostID
	from, to uint16 // 0 < from < to
}

// encode returns the fragment as it is stored.
func (i fragment) encode() uint64 { return uint64(i.host)<<32 | uint64(i.from)<<16 | uint64(i.to) }

// decodeFragment is the inverse of encode.
func decodeFragment(w uint64) fragment {
	return fragment{index.HostID(w >> 32), uint16(w >> 16), uint16(w)}
}

// span is blocks [from, to) of a run.
type span struct{ from, to int }

// holders are the replicas that hold a run, and what each holds, as the writer works on them: any set of (replica,
// block) facts. What a replica holds from the first block on is its reach: all of the run (full) or less (prefixes).
// What it holds besides are its fragments, each as long as can be and none next to its reach.
type holders struct {
	len       int
	full      index.HostBitmap
	prefixes  []prefix
	fragments []fragment
}

// reach returns how many blocks h holds from the first on.
func (s *holders) reach(h index.HostID) int {
	if s.full.Has(h) {
		return s.len
	}
	for _, p := range s.prefixes {
		if p.host == h {
			return int(p.reach)
		}
	}
	return 0
}

// setReach sets how many blocks h holds from the first on.
func (s *holders) setReach(h index.HostID, reach int) {
	s.full.Clear(h)
	at := slices.IndexFunc(s.prefixes, func(p prefix) bool { return p.host == h })
	switch {
	case reach == s.len:
		s.full.Set(h)
		fallthrough
	case reach == 0:
		if at >= 0 {
			s.prefixes[at] = s.prefixes[len(s.prefixes)-1]
			s.prefixes = s.prefixes[:len(s.prefixes)-1]
		}
	case at >= 0:
		s.prefixes[at].reach = uint16(reach)
	default:
		s.prefixes = append(s.prefixes, prefix{h, uint16(reach)})
	}
}

// hold adds [from, to) to what h holds and returns how many blocks were new.
func (s *holders) hold(h index.HostID, from, to int) (gained int) {
	reach := s.reach(h)
	if to <= reach {
		return 0
	}
	if from <= reach {
		to, known := s.absorb(h, reach, to, &from)
		s.setReach(h, to)
		return to - reach - known
	}
	to, known := s.absorb(h, from, to, &from)
	s.fragments = append(s.fragments, fragment{h, uint16(from), uint16(to)})
	return to - from - known
}

// absorb removes the fragments of h that touch [from, to). It returns the end and, in begin, the beginning of all of
// them together with [from, to), and how many blocks of that the fragments had.
func (s *holders) absorb(h index.HostID, from, to int, begin *int) (end, known int) {
	*begin, end = from, to
	left := s.fragments[:0]
	for _, i := range s.fragments {
		if i.host != h || int(i.to) < from || int(i.from) > to {
			left = append(left, i)
			continue
		}
		known += int(i.to - i.from)
		*begin, end = min(*begin, int(i.from)), max(end, int(i.to))
	}
	s.fragments = left
	return end, known
}

// drop removes [from, to) from what h holds and returns how many blocks that were.
func (s *holders) drop(h index.HostID, from, to int) (lost int) {
	extra := s.dropFragments(h, from, to, &lost)
	if reach := s.reach(h); from < reach {
		lost += min(reach, to) - from
		s.setReach(h, from)
		if to < reach {
			s.fragments = append(s.fragments, fragment{h, uint16(to), uint16(reach)})
		}
	}
	if extra.to > 0 {
		s.fragments = append(s.fragments, extra)
	}
	return lost
}

// dropFragments cuts [from, to) out of h's fragments. If it cuts one in two, extra is the later half.
func (s *holders) dropFragments(h index.HostID, from, to int, lost *int) (extra fragment) {
	left := s.fragments[:0]
	for _, i := range s.fragments {
		a, b := max(from, int(i.from)), min(to, int(i.to))
		if i.host != h || a >= b {
			left = append(left, i)
			continue
		}
		*lost += b - a
		switch {
		case int(i.from) < a && b < int(i.to):
			extra = fragment{h, uint16(b), i.to}
			left = append(left, fragment{h, i.from, uint16(a)})
		case int(i.from) < a:
			left = append(left, fragment{h, i.from, uint16(a)})
		case b < int(i.to):
			left = append(left, fragment{h, uint16(b), i.to})
		}
	}
	s.fragments = left
	return extra
}

// heldByAny returns true if one of hosts holds a block.
func (s *holders) heldByAny(hosts index.HostBitmap) bool {
	return !s.full.And(hosts).Empty() ||
		slices.ContainsFunc(s.prefixes, func(p prefix) bool { return hosts.Has(p.host) }) ||
		slices.ContainsFunc(s.fragments, func(i fragment) bool { return hosts.Has(i.host) })
}

// dropHosts drops all that hosts hold and adds it to lost.
func (s *holders) dropHosts(hosts index.HostBitmap, lost *[index.MaxHosts]int) {
	for h := range s.full.And(hosts).All() {
		lost[h] += s.len
	}
	s.full = s.full.AndNot(hosts)
	s.prefixes = slices.DeleteFunc(s.prefixes, func(p prefix) bool {
		if hosts.Has(p.host) {
			lost[p.host] += int(p.reach)
		}
		return hosts.Has(p.host)
	})
	s.fragments = slices.DeleteFunc(s.fragments, func(i fragment) bool {
		if hosts.Has(i.host) {
			lost[i.host] += int(i.to - i.from)
		}
		return hosts.Has(i.host)
	})
}

// each calls yield for every stretch that a replica holds.
func (s *holders) each(yield func(h index.HostID, from, to int)) {
	for h := range s.full.All() {
		yield(h, 0, s.len)
	}
	for _, p := range s.prefixes {
		yield(p.host, 0, int(p.reach))
	}
	for _, i := range s.fragments {
		yield(i.host, int(i.from), int(i.to))
	}
}
