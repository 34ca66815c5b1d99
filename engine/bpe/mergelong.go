package bpe

import "slices"

// queue holds the places of a long word where a rule applies, by rank: the lowest rank first and, within one, from the
// left. There are far fewer ranks than places, and places mostly come in order, so it costs little more than a pass for
// each rank.
type queue struct {
	at    map[uint32]int // the list of a rank
	lists []list
	ranks []uint32 // of the lists that are not empty; a heap
	last  int      // the list that was used last
}

type list struct {
	rank     uint32
	places   []int32
	unsorted bool
}

func (q *queue) reset() {
	if q.at == nil {
		q.at = make(map[uint32]int)
	}
	clear(q.at)
	q.ranks, q.last = q.ranks[:0], 0
}

// add notes that a rule of rank applies at a place.
func (q *queue) add(rank uint32, place int32) {
	if len(q.at) == 0 || q.lists[q.last].rank != rank {
		q.last = q.find(rank)
	}
	l := &q.lists[q.last]
	if n := len(l.places); n == 0 {
		q.push(rank)
	} else if l.places[n-1] > place {
		l.unsorted = true
	}
	l.places = append(l.places, place)
}

// find returns the list of a rank, in the memory of an earlier one if there is any.
func (q *queue) find(rank uint32) int {
	i, ok := q.at[rank]
	if !ok {
		i = len(q.at)
		if i == len(q.lists) {
			q.lists = append(q.lists, list{})
		}
		q.lists[i] = list{rank: rank, places: q.lists[i].places[:0]}
		q.at[rank] = i
	}
	return i
}

// take returns the places of the lowest rank, ascending, and leaves that rank empty: give gives the memory back.
func (q *queue) take() (rank uint32, places []int32) {
	rank = q.pop()
	l := &q.lists[q.at[rank]]
	if l.unsorted {
		slices.Sort(l.places)
	}
	places, l.places, l.unsorted = l.places, nil, false
	return rank, places
}

// give takes back what take returned, of which places[done:] still wait.
func (q *queue) give(rank uint32, places []int32, done int) {
	l := &q.lists[q.at[rank]]
	if len(l.places) > 0 { // new ones have come up meanwhile
		for _, place := range places[done:] {
			q.add(rank, place)
		}
		return
	}
	if done == len(places) {
		l.places = places[:0]
		return
	}
	l.places = places[done:]
	q.push(rank)
}

func (q *queue) push(rank uint32) {
	h := append(q.ranks, rank)
	for i := len(h) - 1; i > 0 && h[(i-1)/2] > h[i]; i = (i - 1) / 2 {
		h[(i-1)/2], h[i] = h[i], h[(i-1)/2]
	}
	q.ranks = h
}

func (q *queue) pop() uint32 {
	h := q.ranks
	top, n := h[0], len(h)-1
	h[0], h = h[n], h[:n]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if h[child] < h[least] {
				least = child
			}
		}
		if least == i {
			q.ranks = h
			return top
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// mergeLong is merge for words of any length: a list of symbols, and the places where rules apply by rank. A place
// whose rule has changed since it was noted is passed over.
func (s *scratch) mergeLong(m *merges, ids []uint32) []uint32 {
	s.rules = append(s.rulesOf(m, ids), never)
	s.link(len(ids))
	s.queue.reset()
	for i, r := range s.rules {
		if r != never {
			s.queue.add(uint32(r>>32), int32(i))
		}
	}
	for len(s.queue.ranks) > 0 {
		s.mergeRank(m, ids)
	}
	kept := ids[:0]
	for i := int32(0); i >= 0; i = s.next[i] {
		kept = append(kept, ids[i])
	}
	return kept
}

// mergeRank applies the rule of the lowest rank wherever it applies, or until a place comes up that may be before the
// next.
func (s *scratch) mergeRank(m *merges, ids []uint32) {
	rank, places := s.queue.take()
	done := 0
	for _, at := range places {
		done++
		if uint32(s.rules[at]>>32) != rank || s.rules[at] == never {
			continue
		}
		ids[at] = uint32(s.rules[at])
		s.drop(s.next[at])
		s.renew(m, ids, at)
		s.renew(m, ids, s.prev[at])
		if len(s.queue.ranks) > 0 && s.queue.ranks[0] <= rank {
			break
		}
	}
	s.queue.give(rank, places, done)
}

// link makes the list of n symbols in their order; -1 ends it.
func (s *scratch) link(n int) {
	s.prev, s.next = slices.Grow(s.prev[:0], n)[:n], slices.Grow(s.next[:0], n)[:n]
	for i := range n {
		s.prev[i], s.next[i] = int32(i-1), int32(i+1)
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
	if s.next[i] < 0 {
		return
	}
	if r := m.rule(ids[i], ids[s.next[i]]); r != never {
		s.rules[i] = r
		s.queue.add(uint32(r>>32), i)
	}
}
