package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"octet/kvpool"
)

// naiveGate is the Gate's model as one would write it without thinking of speed, over the naive pool.
type naiveGate struct {
	*naive
	tickets []*naiveTicket
	waiting []*naiveWaiter
	debtors []*naiveTicket // oldest debt first
	order   int
	now     Time
	prefill func(key int) time.Duration // as measured
}

type naiveTicket struct {
	simple
	more     naiveMore
	key      int // which ask it was
	rank     rank
	victim   bool
	yielding bool
	first    bool
	said     int // generated tokens
	filled   int // blocks, once the first token came
	owed     int
	began    Time
	resume   int
	uncached int
}

type naiveWaiter struct {
	key     int
	rank    rank
	request Request // Tokens are the prompt
	resume  int
	victim  bool
	more    naiveMore
}

func (m *naiveGate) copied() *naiveGate {
	c := &naiveGate{naive: m.naive.clone(), order: m.order, now: m.now, prefill: m.prefill}
	for _, t := range m.tickets {
		u := *t
		u.table = slices.Clone(t.table)
		c.tickets = append(c.tickets, &u)
	}
	return c
}

func (m *naiveGate) debt() (n int) {
	for _, t := range m.tickets {
		n += t.owed
	}
	return n
}

// share gives s the cached blocks of its prompt and returns how many more it needs.
func (m *naiveGate) share(s *simple, more naiveMore, resume int) int {
	for end := m.cfg.BlockSize; end <= len(s.tokens) && end < len(s.tokens)+resume; end += m.cfg.BlockSize {
		id, ok := m.holder(m.hash(s, end))
		if !ok {
			break
		}
		m.free = slices.DeleteFunc(m.free, func(f kvpool.BlockID) bool { return f == id })
		m.refs[id]++
		s.table = append(s.table, id)
	}
	s.computed = len(s.table) * m.cfg.BlockSize
	return m.needs(s, more, resume, 1) - len(s.table)
}

func (m *naiveGate) enough(w *naiveWaiter) bool {
	s := simple{Request: w.request, tokens: w.request.Tokens}
	need := m.share(&s, w.more, w.resume)
	places := len(m.tickets) == 0 || m.sequences()+w.more.sequences() <= m.cfg.MaxRunning
	return places && need+m.debt() <= len(m.free)
}

func (m *naiveGate) fits(w *naiveWaiter) bool { return m.debt() == 0 && m.copied().enough(w) }

func (m *naiveGate) begin(w *naiveWaiter) {
	t := &naiveTicket{simple: simple{Request: w.request, tokens: w.request.Tokens}, key: w.key, more: w.more,
		rank: w.rank, victim: w.victim, said: w.resume, resume: w.resume, began: m.now}
	need := m.share(&t.simple, w.more, w.resume)
	t.uncached = len(t.tokens) + w.more.uncached(m.cfg.BlockSize) + w.resume - t.computed
	if !m.extend(&t.simple, len(t.table)+need) {
		panic("begun without room")
	}
	m.tickets = append(m.tickets, t)
}

func (m *naiveGate) settle() {
	for {
		slices.SortFunc(m.waiting, func(a, b *naiveWaiter) int {
			return cmp.Or(cmp.Compare(b.rank.priority, a.rank.priority), cmp.Compare(a.rank.arrival, b.rank.arrival),
				cmp.Compare(a.rank.id, b.rank.id))
		})
		if len(m.waiting) == 0 {
			return
		}
		head := m.waiting[0]
		if !m.fits(head) {
			m.preemptFor(head)
			return
		}
		m.waiting = m.waiting[1:]
		m.begin(head)
	}
}

// displaced returns who leaves a full queue for w: the last that is strictly less urgent and resumes nothing; nil for
// nobody.
func (m *naiveGate) displaced(w *naiveWaiter, most int) (last *naiveWaiter) {
	for _, o := range m.waiting {
		if o.resume == 0 && most > 0 && (last == nil || last.rank.before(o.rank)) {
			last = o
		}
	}
	if last == nil || last.rank.priority >= w.rank.priority {
		return nil
	}
	return last
}

// wouldStart reports whether w, at the head, starts once others have given way. It spoils m.
func (m *naiveGate) wouldStart(w *naiveWaiter) bool {
	m.preemptFor(w)
	for _, t := range slices.Clone(m.tickets) {
		if t.yielding {
			m.end(t)
		}
	}
	return m.enough(w)
}

// preemptFor tries none, the lowest one, two, … on a copy each time.
func (m *naiveGate) preemptFor(head *naiveWaiter) {
	var lower []*naiveTicket
	for _, t := range m.tickets {
		if t.victim && !t.yielding && t.rank.priority < head.rank.priority {
			lower = append(lower, t)
		}
	}
	prices := map[*naiveTicket]float64{}
	for _, t := range lower {
		prices[t] = m.price(t)
	}
	slices.SortFunc(lower, func(a, b *naiveTicket) int {
		return cmp.Or(cmp.Compare(a.rank.priority, b.rank.priority), cmp.Compare(prices[a], prices[b]),
			cmp.Compare(b.rank.arrival, a.rank.arrival), cmp.Compare(b.rank.id, a.rank.id))
	})
	for n := range len(lower) + 1 {
		c := m.copied()
		for _, t := range slices.Clone(c.tickets) {
			if t.yielding || slices.ContainsFunc(lower[:n], func(l *naiveTicket) bool { return l.key == t.key }) {
				c.end(t)
			}
		}
		if c.enough(head) {
			for _, t := range lower[:n] {
				t.yielding = true
			}
			return
		}
	}
}

// price is what t has in the engine and would lose, for each block that only it holds.
func (m *naiveGate) price(t *naiveTicket) float64 {
	freed := 0
	for _, id := range t.table {
		if m.refs[id] == 1 {
			freed++
		}
	}
	if freed == 0 {
		return math.Inf(1)
	}
	size := m.cfg.BlockSize
	has, kept := float64(len(t.tokens)+t.more.uncached(size)+t.said), 0
	if !t.first {
		part := 1.0
		if whole := m.prefill(t.key); whole > 0 {
			part = min(1, float64(m.now-t.began)/float64(whole))
		}
		has = float64(t.computed) + part*float64(t.uncached)
	}
	for end := size; end <= min(len(t.tokens), t.computed) && end < len(t.tokens)+t.resume; end += size {
		id, ok := m.holder(m.hash(&t.simple, end))
		others := 0
		if ok {
			others = m.refs[id]
		}
		if ok && t.table[end/size-1] == id {
			others--
		}
		if others == 0 {
			break
		}
		kept += size
	}
	return max(0, has-float64(kept)) / float64(freed)
}

func (m *naiveGate) end(t *naiveTicket) {
	m.trim(&t.simple, 0)
	m.tickets = slices.DeleteFunc(m.tickets, func(o *naiveTicket) bool { return o == t })
	m.debtors = slices.DeleteFunc(m.debtors, func(o *naiveTicket) bool { return o == t })
}

func (m *naiveGate) release(t *naiveTicket) {
	m.end(t)
	for len(m.debtors) > 0 && len(m.free) > 0 {
		d := m.debtors[0]
		m.extend(&d.simple, len(d.table)+1)
		if d.owed--; d.owed == 0 {
			m.debtors = m.debtors[1:]
		}
	}
	m.settle()
}

func (m *naiveGate) prefilled(t *naiveTicket) {
	if t.first {
		return
	}
	t.first = true
	for end := m.cfg.BlockSize; end <= len(t.tokens) && end < len(t.tokens)+t.said; end += m.cfg.BlockSize {
		h := m.hash(&t.simple, end)
		if _, ok := m.holder(h); !ok {
			m.content[t.table[end/m.cfg.BlockSize-1]] = h
		}
	}
	t.computed = len(t.tokens) + t.more.each(t.said)
	t.filled = m.needs(&t.simple, t.more, t.said, 0)
}

func (m *naiveGate) grow(t *naiveTicket, said int) {
	if said <= t.said {
		return
	}
	m.prefilled(t)
	t.said = said
	t.computed = len(t.tokens) + t.more.each(said)
	t.filled = m.needs(&t.simple, t.more, said, 0)
	for len(t.table)+t.owed < m.needs(&t.simple, t.more, said, 1) {
		if m.extend(&t.simple, len(t.table)+1) {
			continue
		}
		if t.owed++; t.owed == 1 {
			m.debtors = append(m.debtors, t)
		}
	}
}

// picture is what is compared with the Gate, as text.
func (m *naiveGate) picture() string {
	var lines []string
	reserved := 0
	for _, t := range m.tickets {
		lines = append(lines, fmt.Sprintf("%03d in %v owed %d yielding %t", t.key, t.table, t.owed, t.yielding))
		filled := t.filled
		if !t.first {
			filled = m.blocks(t.computed)
		}
		reserved += max(0, len(t.table)-filled)
	}
	for _, w := range m.waiting {
		lines = append(lines, fmt.Sprintf("%03d waits", w.key))
	}
	slices.Sort(lines)
	return fmt.Sprint(lines, " free ", len(m.free), " reserved ", reserved, " cached ", len(m.content))
}
