package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	slow "octet/scheduler/internal/naive"
	"octet/scheduler/queue"
)

// naiveGate is the Gate's model as one would write it without thinking of speed, over the naive pool.
type naiveGate struct {
	*slow.Pool
	places  int // sequences at once
	tickets []*naiveTicket
	waiting []*naiveWaiter
	debtors []*naiveTicket // oldest debt first
	order   int
	now     scheduler.Time
	prefill func(key int) time.Duration // as measured
	rates   rates                       // as measured by now
	shares  *naiveShares
}

// naiveHold is what a request holds.
type naiveHold struct {
	tokens   []uint32 // of its prompt
	table    []kvpool.BlockID
	computed int
}

// naiveRoot is what all prompts are chained to.
const naiveRoot kvpool.BlockHash = 9

type naiveTicket struct {
	naiveHold
	more     naiveMore
	key      int // which ask it was
	rank     queue.Rank
	victim   bool
	yielding bool
	first    bool
	said     int // generated tokens
	filled   int // blocks, once the first token came
	owed     int
	began    scheduler.Time
	resume   int
	uncached int
	tenant   string
	paid     int // of its tenant's share, at the start
}

type naiveWaiter struct {
	key    int
	rank   queue.Rank
	tokens []uint32 // of the prompt
	resume int
	victim bool
	more   naiveMore
	tenant string
	most   int  // tokens that it asks for; 0 is not stated
	paid   bool // it ran before
}

func (m *naiveGate) copied() *naiveGate {
	c := &naiveGate{Pool: m.Pool.Clone(), places: m.places, order: m.order, now: m.now, prefill: m.prefill,
		rates: m.rates, shares: m.shares, waiting: m.waiting}
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
func (m *naiveGate) share(s *naiveHold, more naiveMore, resume int) int {
	for end := m.BlockSize; end <= len(s.tokens) && end < len(s.tokens)+resume; end += m.BlockSize {
		id, ok := m.Holder(m.Hash(naiveRoot, s.tokens[:end]))
		if !ok {
			break
		}
		m.Share(&s.table, id)
	}
	s.computed = len(s.table) * m.BlockSize
	return m.needs(s, more, resume, 1) - len(s.table)
}

func (m *naiveGate) enough(w *naiveWaiter) bool {
	s := naiveHold{tokens: w.tokens}
	need := m.share(&s, w.more, w.resume)
	places := len(m.tickets) == 0 || m.sequences()+w.more.sequences() <= m.places
	return places && need+m.debt() <= len(m.Free)
}

func (m *naiveGate) fits(w *naiveWaiter) bool { return m.debt() == 0 && m.copied().enough(w) }

// begin starts w. Its tenant pays for it where others wait, or it has waited itself.
func (m *naiveGate) begin(w *naiveWaiter) {
	t := &naiveTicket{naiveHold: naiveHold{tokens: w.tokens}, key: w.key, more: w.more, tenant: w.tenant,
		rank: w.rank, victim: w.victim, said: w.resume, resume: w.resume, began: m.now}
	if len(m.waiting) > 0 && !w.paid {
		t.paid = m.cost(w)
		m.shares.pays(m.waiting, w.rank.Priority, w.tenant, t.paid)
	}
	m.drop(w)
	need := m.share(&t.naiveHold, w.more, w.resume)
	t.uncached = len(t.tokens) + w.more.uncached(m.BlockSize) + w.resume - t.computed
	if !m.Extend(&t.table, len(t.table)+need) {
		panic("begun without room")
	}
	m.tickets = append(m.tickets, t)
}

func (m *naiveGate) settle() {
	for head := m.head(); head != nil; head = m.head() {
		if !m.fits(head) {
			m.preemptFor(head)
			return
		}
		m.begin(head)
	}
}

// displaced returns the request that leaves a full queue for w: the last that is strictly less urgent and resumes
// nothing; nil if none does.
func (m *naiveGate) displaced(w *naiveWaiter, most int) (last *naiveWaiter) {
	for _, o := range m.waiting {
		if o.resume == 0 && most > 0 && (last == nil || last.rank.Before(o.rank)) {
			last = o
		}
	}
	if last == nil || last.rank.Priority >= w.rank.Priority {
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
		if t.victim && !t.yielding && t.rank.Priority < head.rank.Priority {
			lower = append(lower, t)
		}
	}
	prices := map[*naiveTicket]float64{}
	for _, t := range lower {
		prices[t] = m.price(t)
	}
	slices.SortFunc(lower, func(a, b *naiveTicket) int {
		return cmp.Or(cmp.Compare(a.rank.Priority, b.rank.Priority), cmp.Compare(prices[a], prices[b]),
			cmp.Compare(b.rank.Arrival, a.rank.Arrival), cmp.Compare(b.rank.ID, a.rank.ID))
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
		if m.Refs[id] == 1 {
			freed++
		}
	}
	if freed == 0 {
		return math.Inf(1)
	}
	size := m.BlockSize
	has, kept := float64(len(t.tokens)+t.more.uncached(size)+t.said), 0
	if !t.first {
		part := 1.0
		if whole := m.prefill(t.key); whole > 0 {
			part = min(1, float64(m.now-t.began)/float64(whole))
		}
		has = float64(t.computed) + part*float64(t.uncached)
	}
	for end := size; end <= min(len(t.tokens), t.computed) && end < len(t.tokens)+t.resume; end += size {
		id, ok := m.Holder(m.Hash(naiveRoot, t.tokens[:end]))
		others := 0
		if ok {
			others = m.Refs[id]
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
	m.Trim(&t.table, 0)
	m.tickets = slices.DeleteFunc(m.tickets, func(o *naiveTicket) bool { return o == t })
	m.debtors = slices.DeleteFunc(m.debtors, func(o *naiveTicket) bool { return o == t })
}

// release ends t. before is what was measured before its end.
func (m *naiveGate) release(t *naiveTicket, before rates) {
	m.end(t)
	if !t.yielding {
		m.settles(t, before)
	}
	for len(m.debtors) > 0 && len(m.Free) > 0 {
		d := m.debtors[0]
		m.Extend(&d.table, len(d.table)+1)
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
	for end := m.BlockSize; end <= len(t.tokens) && end < len(t.tokens)+t.said; end += m.BlockSize {
		h := m.Hash(naiveRoot, t.tokens[:end])
		if _, ok := m.Holder(h); !ok {
			m.Content[t.table[end/m.BlockSize-1]] = h
		}
	}
	t.computed = len(t.tokens) + t.more.each(t.said)
	t.filled = m.needs(&t.naiveHold, t.more, t.said, 0)
}

func (m *naiveGate) grow(t *naiveTicket, said int) {
	if said <= t.said {
		return
	}
	m.prefilled(t)
	t.said = said
	t.computed = len(t.tokens) + t.more.each(said)
	t.filled = m.needs(&t.naiveHold, t.more, said, 0)
	for len(t.table)+t.owed < m.needs(&t.naiveHold, t.more, said, 1) {
		if m.Extend(&t.table, len(t.table)+1) {
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
			filled = m.Blocks(t.computed)
		}
		reserved += max(0, len(t.table)-filled)
	}
	for _, w := range m.waiting {
		lines = append(lines, fmt.Sprintf("%03d waits", w.key))
	}
	slices.Sort(lines)
	return fmt.Sprint(lines, " free ", len(m.Free), " reserved ", reserved, " cached ", len(m.Content))
}
