package bpe

// mergeLong is merge for words of any length, in n log n: a list of symbols and a heap of the pairs that have a rule. What
// the heap knows of a pair that has since changed is passed over.
func (s *scratch) mergeLong(m *merges, ids []uint32) []uint32 {
	rules := append(s.rulesOf(m, ids), never)
	s.rules = rules
	s.link(len(ids))
	s.heap = s.heap[:0]
	for i, r := range rules {
		s.push(r, i)
	}
	for len(s.heap) > 0 {
		top := s.pop()
		at := int32(uint32(top))
		if rules[at]>>32 != top>>32 || rules[at] == never {
			continue
		}
		ids[at] = uint32(rules[at])
		s.drop(s.next[at])
		s.renew(m, ids, at)
		s.renew(m, ids, s.prev[at])
	}
	kept := ids[:0]
	for i := int32(0); i >= 0; i = s.next[i] {
		kept = append(kept, ids[i])
	}
	return kept
}

// link makes the list of n symbols in their order; -1 is none.
func (s *scratch) link(n int) {
	s.prev, s.next = s.prev[:0], s.next[:0]
	for i := range n {
		s.prev, s.next = append(s.prev, int32(i-1)), append(s.next, int32(i+1))
	}
	s.next[n-1] = -1
}

// drop takes symbol i, which is not the first, out of the list.
func (s *scratch) drop(i int32) {
	s.rules[i] = never
	s.next[s.prev[i]] = s.next[i]
	if s.next[i] >= 0 {
		s.prev[s.next[i]] = s.prev[i]
	}
}

// renew notes the rule of symbol i, if there is one, and what follows it now.
func (s *scratch) renew(m *merges, ids []uint32, i int32) {
	if i < 0 {
		return
	}
	s.rules[i] = never
	if s.next[i] >= 0 {
		s.rules[i] = m.rule(ids[i], ids[s.next[i]])
		s.push(s.rules[i], int(i))
	}
}

// push adds a rule at a position; its key is rank<<32|position, so that of equal ranks the leftmost comes first.
func (s *scratch) push(rule uint64, at int) {
	if rule == never {
		return
	}
	h := append(s.heap, rule&^(1<<32-1)|uint64(at))
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	s.heap = h
}

// pop takes the least key.
func (s *scratch) pop() uint64 {
	h := s.heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child] < h[least] {
				least = child
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	s.heap = h
	return top
}
