package bpe

import (
	"math/bits"
	"slices"
)

// merges tells for two adjacent tokens what they become and how soon. Open addressing over a power of two, at most half
// full.
type merges struct {
	slots []merge
	shift uint
	mask  uint32
}

type merge struct {
	pair uint64 // left<<32 | right
	rule uint64 // rank<<32 | token; never is no rule
}

const never = ^uint64(0)

func newMerges(n int) *merges {
	width := max(bits.Len(uint(2*n)), 4)
	m := &merges{slots: make([]merge, 1<<width), shift: uint(64 - width), mask: 1<<width - 1}
	for i := range m.slots {
		m.slots[i].rule = never
	}
	return m
}

// add notes a rule; the first one for a pair stays.
func (m *merges) add(left, right, rank, token uint32) {
	pair := uint64(left)<<32 | uint64(right)
	at := m.home(pair)
	for ; m.slots[at].rule != never; at = (at + 1) & m.mask {
		if m.slots[at].pair == pair {
			return
		}
	}
	m.slots[at] = merge{pair, uint64(rank)<<32 | uint64(token)}
}

// home spreads pairs by Fibonacci hashing.
func (m *merges) home(pair uint64) uint32 { return uint32((pair * 0x9E3779B97F4A7C15) >> m.shift) }

// rule returns rank<<32|token of a pair, never when it does not merge.
func (m *merges) rule(left, right uint32) uint64 {
	pair := uint64(left)<<32 | uint64(right)
	for at := m.home(pair); ; at = (at + 1) & m.mask {
		s := &m.slots[at]
		if s.pair == pair || s.rule == never {
			return s.rule
		}
	}
}

// shortWord is the most symbols of a word that is merged by looking for the first rule again each time.
const shortWord = 48

// scratch is what merging needs beside the symbols. Not safe for concurrent use.
type scratch struct {
	rules      []uint64 // of ids[i] and what follows it
	prev, next []int32
	queue      queue
	stretches  []stretch
	text       []byte // normalised
}

// merge applies the rules to the symbols in ids: always the rule of the lowest rank, and of those the leftmost. It
// returns the tokens, in place.
func (s *scratch) merge(m *merges, ids []uint32) []uint32 {
	switch {
	case len(ids) < 2:
		return ids
	case len(ids) > shortWord:
		if out, ok := s.mergeStretches(m, ids); ok {
			return out
		}
		return s.mergeLong(m, ids)
	}
	rules := s.rulesOf(m, ids)
	for {
		at, least := 0, never
		for i, r := range rules {
			if r < least {
				at, least = i, r
			}
		}
		if least == never {
			return ids
		}
		ids[at] = uint32(least)
		ids = append(ids[:at+1], ids[at+2:]...)
		rules = append(rules[:at], rules[at+1:]...)
		if at < len(rules) {
			rules[at] = m.rule(ids[at], ids[at+1])
		}
		if at > 0 {
			rules[at-1] = m.rule(ids[at-1], ids[at])
		}
	}
}

// rulesOf sets s.rules to the rules of all pairs of ids.
func (s *scratch) rulesOf(m *merges, ids []uint32) []uint64 {
	s.rules = slices.Grow(s.rules[:0], len(ids))
	for i := range len(ids) - 1 {
		s.rules = append(s.rules, m.rule(ids[i], ids[i+1]))
	}
	return s.rules
}
