package bpe

import "slices"

// stretch is one symbol, n times.
type stretch struct {
	id uint32
	n  int
}

// maxStretches is the most of them that a long word is merged by. Finding the lowest rule takes a look at each.
const maxStretches = 32

// mergeStretches is merge for long words of few stretches, such as a megabyte of spaces: a rule is applied to a whole
// stretch at once. It returns false, and leaves ids alone, for a word of many stretches, and where the rules come in
// such an order that they must be applied one by one.
func (s *scratch) mergeStretches(m *merges, ids []uint32) ([]uint32, bool) {
	all, ok := s.stretchesOf(ids)
	for ok {
		at, rule, inside := lowest(m, all)
		switch {
		case rule == never:
			return expand(ids[:0], all), true
		case inside:
			all, ok = halve(m, all, at, rule)
		default:
			all = meet(all, at, uint32(rule))
		}
		all = coalesced(all)
		ok = ok && len(all) <= maxStretches
	}
	return ids, false
}

// stretchesOf returns the stretches of ids; false when they are too many.
func (s *scratch) stretchesOf(ids []uint32) ([]stretch, bool) {
	if s.stretches == nil {
		// a rule adds one at most, before it is found to be one too many
		s.stretches = make([]stretch, 0, maxStretches+1)
	}
	all := s.stretches[:0]
	for _, id := range ids {
		if n := len(all); n > 0 && all[n-1].id == id {
			all[n-1].n++
			continue
		}
		if len(all) == maxStretches {
			return nil, false
		}
		all = append(all, stretch{id, 1})
	}
	return all, true
}

// lowest returns the lowest rule and the first stretch where it applies: inside of it, or between it and the next.
func lowest(m *merges, all []stretch) (at int, rule uint64, inside bool) {
	rule = never
	for i, one := range all {
		if one.n > 1 {
			if r := m.rule(one.id, one.id); r < rule {
				at, rule, inside = i, r, true
			}
		}
		if i+1 < len(all) {
			if r := m.rule(one.id, all[i+1].id); r < rule {
				at, rule, inside = i, r, false
			}
		}
	}
	return at, rule, inside
}

// halve applies a rule inside of stretch at, from the left to the right. It returns false when a pair that comes up on
// the way would have to be merged first.
func halve(m *merges, all []stretch, at int, rule uint64) ([]stretch, bool) {
	token, id, n := uint32(rule), all[at].id, all[at].n
	first := min(m.rule(token, id), m.rule(token, token))
	if at > 0 {
		first = min(first, m.rule(all[at-1].id, token))
	}
	if first < rule {
		return all, false
	}
	return slices.Replace(all, at, at+1, stretch{token, n / 2}, stretch{id, n % 2}), true
}

// meet merges the last symbol of stretch at and the first of the next into a token.
func meet(all []stretch, at int, token uint32) []stretch {
	left, right := all[at], all[at+1]
	return slices.Replace(all, at, at+2, stretch{left.id, left.n - 1}, stretch{token, 1},
		stretch{right.id, right.n - 1})
}

// coalesced has no empty stretches, and no two of one symbol side by side.
func coalesced(all []stretch) []stretch {
	out := all[:0]
	for _, one := range all {
		switch n := len(out); {
		case one.n == 0:
		case n > 0 && out[n-1].id == one.id:
			out[n-1].n += one.n
		default:
			out = append(out, one)
		}
	}
	return out
}

func expand(dst []uint32, all []stretch) []uint32 {
	for _, one := range all {
		for range one.n {
			dst = append(dst, one.id)
		}
	}
	return dst
}
